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
