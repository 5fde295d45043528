import type { LogRecord } from '../logs/log-record.ts';

/** Steps whose times are looked at. */
const RECENT = 20;

/** How long a run's last steps took. Times come from the metrics, where they are measured without the
 *  clock of the day, so that its jumps change nothing; a step in which the machine slept is an
 *  outlier that a median passes over.
 *  @example the last steps took 2, 900 and 3 s  →  3 */
export class StepTimes {
  private recent: number[] = [];
  private middle: number | null = null;

  /** The median, in seconds; null where no time is known. */
  get seconds(): number | null {
    return this.middle;
  }

  /** Takes steps that come after those it has. */
  add(records: readonly LogRecord[]): void {
    const times = records.slice(-RECENT).map(secondsOf).filter(isTime);
    this.recent = [...this.recent, ...times].slice(-RECENT);
    this.middle = this.recent.toSorted((a, b) => a - b)[this.recent.length >> 1] ?? null;
  }

  /** Takes steps in place of all before. */
  restart(records: readonly LogRecord[]): void {
    this.recent = [];
    this.add(records);
  }
}

function secondsOf(record: LogRecord): number {
  const times = Object.entries(record).filter(([name]) => name.startsWith('timing/'));
  return times.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0);
}

/** A clock that goes back gives times below zero. */
function isTime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds > 0;
}
