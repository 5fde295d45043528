import type { LineSink } from '../../../fs/index.ts';
import type { MetricColumns } from '../../api.ts';
import { type LogRecord, parseRecord } from './log-records.ts';

export interface MetricSelection {
  /** First step; the first one there is by default. */
  readonly from?: number;
  /** Maximum number of rows; more are thinned. */
  readonly points?: number;
}

const DEFAULT_POINTS = 1500;
const FIRST_CAPACITY = 64;

/** The rows of `metrics.jsonl` as columns of numbers, in order of steps. */
export class MetricTable implements LineSink {
  private count = 0;
  private steps = new Float64Array(FIRST_CAPACITY);
  private readonly columns = new Map<string, Float64Array>();
  /** Names and columns of the last row, in its order. */
  private readonly order: string[] = [];
  private readonly ordered: Float64Array[] = [];

  get rows(): number {
    return this.count;
  }

  add(bytes: Buffer): boolean {
    const record = parseRecord(bytes);
    if (record !== undefined) this.append(record);
    return record !== undefined;
  }

  clear(): void {
    this.count = 0;
    this.steps = new Float64Array(FIRST_CAPACITY);
    this.columns.clear();
    this.ordered.length = 0;
  }

  /** Selects rows. If there are more than `points`, each bucket of rows becomes two: its first and last
   *  step, with the minimum and maximum of each column in the order in which they occur. The last row
   *  is always exact. */
  select({ from, points = DEFAULT_POINTS }: MetricSelection = {}): MetricColumns {
    const range = { from: from === undefined ? 0 : this.find(from), to: this.count };
    const length = range.to - range.from;
    const pick = length <= points ? pickAll(range) : pickExtremes(range, points);
    const columns = [...this.columns].map(([name, column]) => [name, pick.values(column)] as const);
    const steps = Array.from(pick.steps(this.steps));
    return { steps, columns: Object.fromEntries(columns), rows: this.count };
  }

  /** Appends a row. */
  append(record: LogRecord): void {
    // If steps go back, the log was rewritten from there.
    while (this.count > 0 && this.steps[this.count - 1]! >= record.step) this.removeLast();
    const row = this.count++;
    if (row === this.steps.length) this.grow();
    this.steps[row] = record.step;
    let position = 0;
    for (const name in record) {
      if (name === 'step') continue;
      const value = record[name];
      if (typeof value === 'number') this.column(name, position)[row] = value;
      else if (value === null) this.column(name, position);
      position++;
    }
  }

  /** The column of a name. Rows are similar, so it is mostly at the same position as before. */
  private column(name: string, position: number): Float64Array {
    if (this.order[position] !== name) this.order[position] = name;
    else if (this.ordered[position] !== undefined) return this.ordered[position];
    const known = this.columns.get(name);
    const column = known ?? new Float64Array(this.steps.length).fill(Number.NaN);
    if (known === undefined) this.columns.set(name, column);
    this.ordered[position] = column;
    return column;
  }

  private removeLast(): void {
    this.count--;
    for (const column of this.columns.values()) column[this.count] = Number.NaN;
  }

  private grow(): void {
    const double = (old: Float64Array) => {
      const column = new Float64Array(2 * old.length).fill(Number.NaN, old.length);
      column.set(old);
      return column;
    };
    this.steps = double(this.steps);
    this.ordered.length = 0;
    for (const [name, column] of this.columns) this.columns.set(name, double(column));
  }

  /** The first row at or after a step. */
  private find(step: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle]! < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How rows are selected from steps and columns. */
interface Pick {
  steps(steps: Float64Array): Float64Array | number[];
  values(column: Float64Array): (number | null)[];
}

function pickAll({ from, to }: RowRange): Pick {
  return {
    steps: (steps) => steps.subarray(from, to),
    values: (column) => toNumbers(column.subarray(from, to)),
  };
}

function pickExtremes({ from, to }: RowRange, points: number): Pick {
  const last = to - 1;
  const bounds = splitIntoBuckets({ from, to: last }, Math.max(1, (points - 1) >> 1));
  return {
    steps: (steps) => [
      ...bounds.slice(1).flatMap((end, i) => [steps[bounds[i]!]!, steps[end - 1]!]),
      steps[last]!,
    ],
    values: (column) => [
      ...toNumbers(thinColumn(column, bounds)),
      ...toNumbers(column.subarray(last, to)),
    ],
  };
}

/** JSON has null for missing numbers. */
function toNumbers(values: Float64Array): (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

/** Rows from `from` up to, but not including, `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Bounds of buckets that split rows into equal parts.
 *  @example rows 0 … 9, 3 buckets  →  [0, 3, 6, 9] */
export function splitIntoBuckets({ from, to }: RowRange, count: number): number[] {
  const size = (to - from) / count;
  return Array.from({ length: count + 1 }, (_, i) => from + Math.floor(i * size));
}

/** The minimum and maximum of each bucket in the order in which they occur; NaN is ignored.
 *  @example [1, 5, 2, 4, 3, NaN], buckets [0, 3, 6]  →  [1, 5, 4, 3] */
export function thinColumn(column: Float64Array, bounds: readonly number[]): Float64Array {
  const thin = new Float64Array(2 * (bounds.length - 1));
  for (let bucket = 0; bucket + 1 < bounds.length; bucket++) {
    const [first, second] = findExtremes(column, bounds[bucket]!, bounds[bucket + 1]!);
    thin[2 * bucket] = first;
    thin[2 * bucket + 1] = second;
  }
  return thin;
}

function findExtremes(column: Float64Array, from: number, to: number): [number, number] {
  let [min, max] = [Number.NaN, Number.NaN];
  let [minAt, maxAt] = [from, from];
  for (let row = from; row < to; row++) {
    const value = column[row]!;
    if (Number.isNaN(value)) continue;
    // Comparisons with the initial NaN are false.
    if (!(value >= min)) {
      min = value;
      minAt = row;
    }
    if (!(value <= max)) {
      max = value;
      maxAt = row;
    }
  }
  return minAt <= maxAt ? [min, max] : [max, min];
}
