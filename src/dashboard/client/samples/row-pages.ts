import type { SamplePage, SampleRow } from '../../api.ts';
import type { RowWindow } from './virtual-window.ts';

export const PAGE_SIZE = 100;

/** Pages that are kept: those looked at last. */
const KEPT_PAGES = 40;

/** Requests under way at once: pages that were scrolled past are not asked for. */
const MAX_LOADS = 2;

export interface RowPagesOptions {
  /** The page that starts at a row. */
  readonly load: (offset: number) => Promise<SamplePage>;
  /** Called when rows have come, or cannot be had. */
  readonly onChange: () => void;
}

/** Rows of a query, fetched by the page as they are looked at. */
export class RowPages {
  /** Rows that the query finds, as the latest page says; undefined until the first has come. */
  total: number | undefined;
  /** Why the latest page did not come. */
  error: string | undefined;
  private readonly options: RowPagesOptions;
  /** By page number, the one looked at last at the end. */
  private readonly pages = new Map<number, readonly SampleRow[]>();
  private readonly loading = new Set<number>();
  private wanted: RowWindow = { first: 0, end: PAGE_SIZE };

  constructor(options: RowPagesOptions) {
    this.options = options;
  }

  /** A row, if it has come. */
  row(index: number): SampleRow | undefined {
    return this.pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE];
  }

  /** Fetches what is missing of some rows; what was wanted before and has not been asked for is dropped. */
  want(rows: RowWindow): void {
    this.wanted = rows;
    this.loadNext();
  }

  private loadNext(): void {
    const end = Math.min(this.wanted.end, this.total ?? PAGE_SIZE);
    for (let page = Math.floor(this.wanted.first / PAGE_SIZE); page * PAGE_SIZE < end; page++) {
      const rows = this.pages.get(page);
      if (rows !== undefined) this.keep(page, rows);
      else if (this.loading.size < MAX_LOADS && !this.loading.has(page)) void this.load(page);
    }
  }

  private async load(page: number): Promise<void> {
    this.loading.add(page);
    try {
      const { total, rows } = await this.options.load(page * PAGE_SIZE);
      this.total = total;
      this.error = undefined;
      this.keep(page, rows);
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
    }
    this.loading.delete(page);
    // A failed page is asked for again when it is next looked at, not at once.
    if (this.error === undefined) this.loadNext();
    this.options.onChange();
  }

  private keep(page: number, rows: readonly SampleRow[]): void {
    this.pages.delete(page);
    this.pages.set(page, rows);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= KEPT_PAGES) break;
      this.pages.delete(oldest);
    }
  }
}
