import { extentOf, placeBetween } from '../samples/plot-scale.ts';

/** How numbers become colours: away from a centre in two colours, or in one from end to end. */
export type ScaleKind =
  | { readonly kind: 'diverging'; readonly center: number }
  /** `strong` is the end with the full colour. */
  | { readonly kind: 'sequential'; readonly strong: 'high' | 'low' };

/** Which colour a number has, and how much of it, from 0 to 1. */
export interface Tint {
  readonly hue: 'low' | 'high';
  readonly amount: number;
}

export interface ColorScale {
  readonly min: number;
  readonly max: number;
  /** Where the colours meet; undefined in a sequential scale. */
  readonly center: number | undefined;
  /** Undefined for what is no number. */
  tint(x: number | null | undefined): Tint | undefined;
}

/** Part of a colour in the surface's at a tint of 1: text stays readable (4.5 : 1) in both themes. */
export const MAX_TINT = 0.45;

/** A scale over all numbers of a column. A diverging one reaches as far on either side of its centre.
 *  @example around 0: [−1, 0.5]  →  ends −1 and 1; −1 is low 1, 0.5 is high ½
 *  @example sequential, strong low: [−4, 0]  →  −4 is high 1, −1 is high ¼ */
export function colorScale(numbers: readonly (number | null)[], scale: ScaleKind): ColorScale {
  const extent = extentOf(numbers) ?? { min: 0, max: 0 };
  const guard = (tint: (x: number) => Tint) => (x: number | null | undefined) =>
    x === null || x === undefined || !Number.isFinite(x) ? undefined : tint(x);
  if (scale.kind === 'sequential') {
    const tint = (x: number): Tint => {
      const place = placeBetween(x, extent);
      if (extent.max === extent.min) return { hue: 'high', amount: 0 };
      return { hue: 'high', amount: scale.strong === 'high' ? place : 1 - place };
    };
    return { ...extent, center: undefined, tint: guard(tint) };
  }
  const { center } = scale;
  const reach = Math.max(extent.max - center, center - extent.min, 0);
  const tint = (x: number): Tint => ({
    hue: x < center ? 'low' : 'high',
    amount: reach === 0 ? 0 : Math.abs(x - center) / reach,
  });
  return { min: center - reach, max: center + reach, center, tint: guard(tint) };
}

/** The percentage of its colour that a tint puts into the surface's. */
export function percentOf({ amount }: Tint): string {
  return `${(100 * MAX_TINT * amount).toFixed(1)}%`;
}
