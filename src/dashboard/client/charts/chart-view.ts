import { signal } from '@preact/signals';

/** An interval of steps. */
export interface StepRange {
  readonly min: number;
  readonly max: number;
}

/** The settings that all charts of a page share. */
export function createChartView() {
  return {
    /** Weight of earlier numbers in the moving average; 0 for none. */
    smoothing: signal(0.6),
    isLog: signal(false),
    /** The zoomed interval; undefined shows all steps. */
    range: signal<StepRange | undefined>(undefined),
    /** The step under the cursor. */
    cursor: signal<number | undefined>(undefined),
  };
}

export type ChartView = ReturnType<typeof createChartView>;

/** Zooms around a step by a factor, within the whole interval; undefined if the result is all of it.
 *  @example [0, 100] at 50, factor ½  →  [25, 75];  at 0  →  [0, 50] */
export function zoomRange(
  current: StepRange,
  { whole, at, factor }: { whole: StepRange; at: number; factor: number },
): StepRange | undefined {
  const width = Math.max(2, (current.max - current.min) * factor);
  if (width >= whole.max - whole.min) return undefined;
  const fraction =
    current.max > current.min ? (at - current.min) / (current.max - current.min) : 0.5;
  const min = Math.min(Math.max(at - width * fraction, whole.min), whole.max - width);
  return { min, max: min + width };
}

/** Number of line colours; theme.css defines them as --series-1 … 8. */
export const colourCount = 8;

/** Assigns a colour index to each drawn run. A run keeps its colour; a new one gets the first free
 *  index. With more runs than colours, colours repeat.
 *  @example a has 0, drawn b and c  →  b 0, c 1; a has 0, drawn b and a  →  a 0, b 1 */
export function assignColours(
  old: ReadonlyMap<string, number>,
  drawn: readonly string[],
): ReadonlyMap<string, number> {
  const assigned = new Map<string, number>();
  for (const run of drawn) {
    const colour = old.get(run);
    if (colour !== undefined) assigned.set(run, colour);
  }
  const taken = new Set(assigned.values());
  for (const run of drawn) {
    if (assigned.has(run)) continue;
    let colour = 0;
    while (taken.has(colour)) colour++;
    taken.add(colour);
    assigned.set(run, colour);
  }
  return assigned;
}

/** Dash patterns that distinguish lines of the same colour. */
export const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Font of the charts; a canvas cannot read it from CSS. */
export const plotFont = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
