import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleQuery } from '../../api.ts';
import { PAGE_SIZE, RowPages } from './row-pages.ts';
import { queryUntil } from './sample-query.ts';

/** Rows of a query as they were when it was made: samples that come later change nothing until they
 *  are asked for. */
export interface SampleList {
  /** Undefined until the first rows have come. */
  readonly pages: RowPages | undefined;
  /** Samples of the run that came since. */
  readonly added: number;
  readonly error: string | undefined;
  refresh(): void;
}

interface Snapshot {
  readonly pages: RowPages;
  /** Samples of the whole run. */
  readonly count: number;
}

/** Keeps the rows of a query; those of the one before stay until the first page has come. */
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
    // Fewer samples than before: the run was resumed from a checkpoint, and its logs were cut.
    const wasCut = samples < before.current;
    before.current = samples;
    if (wasCut || (snapshot?.count === 0 && samples > 0)) refresh(undefined);
  }, [samples, snapshot?.count]);
  return {
    pages: snapshot?.pages,
    added: Math.max(0, samples - (snapshot?.count ?? samples)),
    error: error ?? snapshot?.pages.error,
    refresh: useCallback(() => refresh(undefined), []),
  };
}

/** The rows up to the newest step there is; resolves once the first page has come. */
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

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
