import type { MetricColumns } from '../../api.ts';
import type { LineSink } from '../logs/jsonl-tail.ts';
import { MetricTable } from '../logs/metric-table.ts';

/** Rows that one event may carry; the page loads more than that by itself. */
const MOST_ROWS = 500;

/** Counts the lines of `metrics.jsonl`, and has those that came since it was asked last. */
export class MetricFeed implements LineSink {
  private lines = 0;
  private isOpen = false;
  private readonly fresh = new MetricTable();

  get count(): number {
    return this.lines;
  }

  add(bytes: Buffer): boolean {
    this.lines++;
    // What was there at the start is the history that pages ask for.
    if (this.isOpen && this.fresh.rows <= MOST_ROWS) return this.fresh.add(bytes);
    return true;
  }

  clear(): void {
    this.lines = 0;
    this.fresh.clear();
  }

  /** The rows since the last call; `many` where they are too many to be sent, undefined if there are none. */
  take(): MetricColumns | 'many' | undefined {
    this.isOpen = true;
    const { rows } = this.fresh;
    const columns = this.fresh.select({ points: MOST_ROWS });
    this.fresh.clear();
    if (rows > MOST_ROWS) return 'many';
    return rows === 0 ? undefined : { ...columns, rows: this.lines };
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
