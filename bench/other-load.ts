import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Clock ticks per second of Linux's process times. */
const TICKS = 100;

/** Seconds since an arbitrary start: wall time, processor time of all cores, and that of some
 *  processes. */
export interface LoadSample {
  readonly wall: number;
  readonly busy: number;
  readonly own: number;
}

/** Samples the processor times of the machine and of these processes; undefined without /proc. */
export function sampleLoad(processIds: readonly number[]): LoadSample | undefined {
  if (!existsSync('/proc/stat')) return undefined;
  const busy = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0);
  const own = processIds.map((id) => readFileSync(`/proc/${id}/stat`, 'utf8')).map(processSeconds);
  return {
    wall: performance.now() / 1000,
    busy: busy / 1000,
    own: own.reduce((sum, seconds) => sum + seconds, 0),
  };
}

/** Mean number of cores that other processes used between two samples.
 *  @example 10 s in which all cores worked 19 s, 12 s of them for our processes  →  0.7 */
export function otherCores(before: LoadSample, after: LoadSample): number {
  const other = after.busy - before.busy - (after.own - before.own);
  return Math.max(0, other / (after.wall - before.wall));
}

/** Processor time from the text of /proc/PID/stat: the 14th and 15th field, where the second is a name in
 *  parentheses.
 *  @example '1 (a b) S' and fields up to 14 and 15 of 150 and 50  →  2 */
export function processSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
