import type { LogRecord } from '../logs/log-record.ts';

/** Steps whose times are looked at. */
const RECENT = 20;

/** Seconds that a step takes, by the median of the last steps; null where none is known. Times come
 *  from the metrics, where they are measured without the clock of the day, so that its jumps change
 *  nothing; a step in which the machine slept is an outlier that a median passes over.
 *  @example the last steps took 2, 900 and 3 s  →  3 */
export function stepSeconds(records: readonly LogRecord[]): number | null {
  const seconds = records.slice(-RECENT).map(secondsOf).filter(isTime);
  return seconds.toSorted((a, b) => a - b)[seconds.length >> 1] ?? null;
}

function secondsOf(record: LogRecord): number {
  const times = Object.entries(record).filter(([name]) => name.startsWith('timing/'));
  return times.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0);
}

/** A clock that goes back gives times below zero. */
function isTime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds > 0;
}
