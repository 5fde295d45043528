import type { LineSink } from '../../../fs/index.ts';
import type { MetricColumns } from '../../api.ts';
import { type LogRecord, parseRecord } from './log-record.ts';
import { cutIntoBuckets, type RowRange, thinColumn } from './thin-rows.ts';

export interface MetricSelection {
  /** First step; that of the first row by default. */
  readonly from?: number;
  /** Rows at most; above that they are thinned out. */
  readonly points?: number;
}

const DEFAULT_POINTS = 1500;
const FIRST_CAPACITY = 64;

/** The lines of `metrics.jsonl` as columns of numbers, in order of steps. */
export class MetricTable implements LineSink {
  private count = 0;
  private steps = new Float64Array(FIRST_CAPACITY);
  private readonly columns = new Map<string, Float64Array>();
  /** Names and columns of the last row in its order. */
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

  /** Rows of some steps. Where there are more than `points`, each bucket of rows gives two: its first
   *  and last step, with the least and the greatest value of each column in the order in which they
   *  came. The last row is always as it was. */
  select({ from, points = DEFAULT_POINTS }: MetricSelection = {}): MetricColumns {
    const range = { from: from === undefined ? 0 : this.find(from), to: this.count };
    const length = range.to - range.from;
    const pick = length <= points ? pickAll(range) : pickExtremes(range, points);
    const columns = [...this.columns].map(([name, column]) => [name, pick.values(column)] as const);
    const steps = Array.from(pick.steps(this.steps));
    return { steps, columns: Object.fromEntries(columns), rows: this.count };
  }

  /** Puts a row behind the others. */
  append(record: LogRecord): void {
    // A log that goes back was written again from there.
    while (this.count > 0 && this.steps[this.count - 1]! >= record.step) this.removeLast();
    const row = this.count++;
    if (row === this.steps.length) this.grow();
    this.steps[row] = record.step;
    let place = 0;
    for (const name in record) {
      if (name === 'step') continue;
      const value = record[name];
      if (typeof value === 'number') this.column(name, place)[row] = value;
      else if (value === null) this.column(name, place);
      place++;
    }
  }

  /** The column of a name. Rows are alike, so it mostly is the one at the same place as before. */
  private column(name: string, place: number): Float64Array {
    if (this.order[place] !== name) this.order[place] = name;
    else if (this.ordered[place] !== undefined) return this.ordered[place];
    const known = this.columns.get(name);
    const column = known ?? new Float64Array(this.steps.length).fill(Number.NaN);
    if (known === undefined) this.columns.set(name, column);
    this.ordered[place] = column;
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

  /** The first row of a step or of a later one. */
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

/** How rows are picked out of steps and of columns. */
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
  const bounds = cutIntoBuckets({ from, to: last }, Math.max(1, (points - 1) >> 1));
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

/** JSON has null for what is no number. */
function toNumbers(values: Float64Array): (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}
