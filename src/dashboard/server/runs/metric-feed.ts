import type { LineSink } from '../../../fs/index.ts';
import type { MetricColumns } from '../../api.ts';
import { type LogRecord, parseRecord } from '../logs/log-record.ts';
import { MetricTable } from '../logs/metric-table.ts';

/** Rows that one event may carry; the page loads more than that by itself. */
const MOST_ROWS = 500;

/** What came since it was asked for last: nothing, rows, or more rows than are to be sent. */
export type FreshMetrics =
  | undefined
  | 'many'
  | { readonly records: readonly LogRecord[]; readonly columns: MetricColumns };

/** Counts the lines of `metrics.jsonl`, and has those that came since it was asked last. */
export class MetricFeed implements LineSink {
  private lines = 0;
  private isOpen = false;
  private fresh: LogRecord[] = [];

  get count(): number {
    return this.lines;
  }

  add(bytes: Buffer): boolean {
    this.lines++;
    // What was there at the start is the history that pages ask for.
    if (!this.isOpen || this.fresh.length > MOST_ROWS) return true;
    const record = parseRecord(bytes);
    if (record !== undefined) this.fresh.push(record);
    return record !== undefined;
  }

  clear(): void {
    this.lines = 0;
    this.fresh = [];
  }

  /** The rows since the last call; those of before the first one are `many`. */
  take(): FreshMetrics {
    const records = this.fresh;
    if (!this.isOpen || records.length > MOST_ROWS) {
      this.isOpen = true;
      this.fresh = [];
      return 'many';
    }
    if (records.length === 0) return undefined;
    this.fresh = [];
    const table = new MetricTable();
    for (const record of records) table.append(record);
    return { records, columns: { ...table.select({ points: MOST_ROWS }), rows: this.lines } };
  }
}

/** Counts the lines of a log. */
export class LineCount implements LineSink {
  private lines = 0;

  get count(): number {
    return this.lines;
  }

  add(): boolean {
    this.lines++;
    return true;
  }

  clear(): void {
    this.lines = 0;
  }
}
