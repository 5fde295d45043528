import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SamplePage, SampleQuery, SampleRow } from '../../api.ts';

/** A range of rows: from `first` up to, but not including, `end`. */
export interface RowWindow {
  readonly first: number;
  readonly end: number;
}

export const PAGE_SIZE = 100;

/** Number of pages in the cache: those used last. */
const CACHED_PAGES = 40;

/** Number of concurrent requests; pages that were only scrolled past are never requested. */
const MAX_LOADS = 2;

interface RowPagesOptions {
  /** Loads the page that starts at a row. */
  readonly load: (offset: number) => Promise<SamplePage>;
  /** Called when a page has been loaded or has failed. */
  readonly onChange: () => void;
}

/** The rows of a query, loaded page by page as they come into view. */
export class RowPages {
  /** Number of rows of the query, from the latest page; undefined until the first is loaded. */
  total: number | undefined;
  /** Why the latest page failed. */
  error: string | undefined;
  private readonly options: RowPagesOptions;
  /** By page number, the one used last at the end. */
  private readonly pages = new Map<number, readonly SampleRow[]>();
  private readonly loading = new Set<number>();
  private wanted: RowWindow = { first: 0, end: PAGE_SIZE };

  constructor(options: RowPagesOptions) {
    this.options = options;
  }

  /** A row, if it is loaded. */
  row(index: number): SampleRow | undefined {
    return this.pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE];
  }

  /** Loads the missing rows of a range; earlier wishes that were not requested yet are dropped. */
  want(rows: RowWindow): void {
    this.wanted = rows;
    this.loadNext();
  }

  private loadNext(): void {
    const end = Math.min(this.wanted.end, this.total ?? PAGE_SIZE);
    for (let page = Math.floor(this.wanted.first / PAGE_SIZE); page * PAGE_SIZE < end; page++) {
      const rows = this.pages.get(page);
      if (rows !== undefined) this.cache(page, rows);
      else if (this.loading.size < MAX_LOADS && !this.loading.has(page)) void this.load(page);
    }
  }

  private async load(page: number): Promise<void> {
    this.loading.add(page);
    try {
      const { total, rows } = await this.options.load(page * PAGE_SIZE);
      this.total = total;
      this.error = undefined;
      this.cache(page, rows);
    } catch (error) {
      this.error = messageOf(error);
    }
    this.loading.delete(page);
    // A failed page is requested again when it is next wanted, not at once.
    if (this.error === undefined) this.loadNext();
    this.options.onChange();
  }

  private cache(page: number, rows: readonly SampleRow[]): void {
    this.pages.delete(page);
    this.pages.set(page, rows);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= CACHED_PAGES) break;
      this.pages.delete(oldest);
    }
  }
}

/** The rows of a query as of when it was made: newer samples are added only by refresh(). */
export interface SampleList {
  /** Undefined until the first rows are loaded. */
  readonly pages: RowPages | undefined;
  /** Number of samples that the run has written since. */
  readonly added: number;
  readonly error: string | undefined;
  refresh(): void;
}

interface Snapshot {
  readonly pages: RowPages;
  /** Number of samples of the whole run. */
  readonly count: number;
}

/** Loads the rows of a query; those of the previous query stay until the first page is loaded. */
export function useSampleList(
  query: SampleQuery,
  { source, run }: { readonly source: DashboardSource; readonly run: RunSummary },
): SampleList {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [error, setError] = useState<string>();
  const [round, refresh] = useReducer((n: number, _: undefined) => n + 1, 0);
  const [, redraw] = useReducer((n: number, _: undefined) => n + 1, 0);
  const latest = useRef(0);
  useEffect(() => {
    const turn = ++latest.current;
    setError(undefined);
    const onChange = () => latest.current === turn && redraw(undefined);
    openSnapshot(query, { source, run: run.id, onChange }).then(
      (next) => latest.current === turn && setSnapshot(next),
      (reason: unknown) => latest.current === turn && setError(messageOf(reason)),
    );
  }, [run.id, JSON.stringify(query), round]);
  const { samples } = run.counts;
  const before = useRef(samples);
  useEffect(() => {
    // Fewer samples than before: the run was resumed from a checkpoint and its logs were truncated.
    const wasTruncated = samples < before.current;
    before.current = samples;
    if (wasTruncated || (snapshot?.count === 0 && samples > 0)) refresh(undefined);
  }, [samples, snapshot?.count]);
  return {
    pages: snapshot?.pages,
    added: Math.max(0, samples - (snapshot?.count ?? samples)),
    error: error ?? snapshot?.pages.error,
    refresh: useCallback(() => refresh(undefined), []),
  };
}

/** Opens the rows up to the newest step; resolves once the first page is loaded. */
async function openSnapshot(
  query: SampleQuery,
  {
    source,
    run,
    onChange,
  }: {
    readonly source: DashboardSource;
    readonly run: string;
    readonly onChange: () => void;
  },
): Promise<Snapshot> {
  const newest = await source.samples(run, { sort: 'step', order: 'desc', limit: 1 });
  const until = queryUntil(query, newest.rows[0]?.step ?? 0);
  return new Promise((resolve, reject) => {
    const pages: RowPages = new RowPages({
      load: (offset) => source.samples(run, { ...until, offset, limit: PAGE_SIZE }),
      onChange: () => {
        if (pages.total === undefined) reject(new Error(pages.error));
        else resolve({ pages, count: newest.total });
        onChange();
      },
    });
    pages.want({ first: 0, end: 1 });
  });
}

/** Limits a query to steps up to the given one, so that new samples do not move its rows. */
export function queryUntil(query: SampleQuery, step: number): SampleQuery {
  return { ...query, toStep: Math.min(query.toStep ?? step, step) };
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
