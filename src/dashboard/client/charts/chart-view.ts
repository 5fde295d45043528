import { signal } from '@preact/signals';

/** Steps from … to. */
export interface StepRange {
  readonly min: number;
  readonly max: number;
}

/** How all charts of a page are looked at: together, so that they can be compared. */
export function createChartView() {
  return {
    /** The weight of what came before, 0 for none. */
    smoothing: signal(0.6),
    isLog: signal(false),
    /** The part that was zoomed to. */
    range: signal<StepRange | undefined>(undefined),
    /** The step under the cursor. */
    cursor: signal<number | undefined>(undefined),
  };
}

export type ChartView = ReturnType<typeof createChartView>;

/** A range around a step, `factor` times as wide, within the whole; undefined where it is the whole.
 *  @example [0, 100] at 50, factor ½  →  [25, 75];  at 0  →  [0, 50] */
export function zoomRange(
  now: StepRange,
  { whole, at, factor }: { whole: StepRange; at: number; factor: number },
): StepRange | undefined {
  const width = Math.max(2, (now.max - now.min) * factor);
  if (width >= whole.max - whole.min) return undefined;
  const part = now.max > now.min ? (at - now.min) / (now.max - now.min) : 0.5;
  const min = Math.min(Math.max(at - width * part, whole.min), whole.max - width);
  return { min, max: min + width };
}

/** Colours there are for runs, and for the lines of one run; theme.css has them as --series-1 … 8. */
export const colourCount = 8;

/** The place of each drawn run's colour: who has one keeps it, who has none gets the first free one.
 *  With more runs than colours they begin again.
 *  @example a has 0, drawn b and c  →  b 0, c 1; a has 0, drawn b and a  →  a 0, b 1 */
export function assignColours(
  old: ReadonlyMap<string, number>,
  drawn: readonly string[],
): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const run of drawn) {
    const place = old.get(run);
    if (place !== undefined) places.set(run, place);
  }
  const taken = new Set(places.values());
  for (const run of drawn) {
    if (places.has(run)) continue;
    let place = 0;
    while (taken.has(place)) place++;
    taken.add(place);
    places.set(run, place);
  }
  return places;
}

/** Dash patterns that distinguish lines of the same colour. */
export const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Font of the charts; a canvas cannot read it from CSS. */
export const plotFont = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
