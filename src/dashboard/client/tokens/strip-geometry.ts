import { extentOf, placeBetween } from '../samples/plot-scale.ts';

/** A column drawn along the steps, in a box of 1 × 1 with y downwards; 0 is always in sight. */
export interface StripGeometry {
  readonly min: number;
  readonly max: number;
  /** y of 0. */
  readonly zero: number;
  /** y of each step's number; undefined for what is no number. */
  readonly ys: readonly (number | undefined)[];
}

/** The places of a column's numbers.
 *  @example [1, −1, 0]  →  zero ½, ys [0, 1, ½] */
export function stripGeometry(numbers: readonly (number | null)[]): StripGeometry {
  const { min, max } = extentOf([...numbers, 0]) ?? { min: 0, max: 0 };
  const y = (x: number) => 1 - placeBetween(x, { min, max });
  const ys = numbers.map((x) => (x === null || !Number.isFinite(x) ? undefined : y(x)));
  return { min, max, zero: y(0), ys };
}

/** A line through the middles of the steps, as the path of an SVG of `steps` × 1. */
export function linePath({ ys }: StripGeometry): string {
  let path = '';
  ys.forEach((y, t) => {
    if (y === undefined) return;
    path += `${path === '' || ys[t - 1] === undefined ? 'M' : 'L'}${t + 0.5} ${y.toFixed(4)}`;
  });
  return path;
}

/** Bars from 0 to each number; those on one side of it only. */
export function barsPath({ ys, zero }: StripGeometry, side: 'above' | 'below'): string {
  let path = '';
  ys.forEach((y, t) => {
    if (y === undefined || (side === 'above' ? y >= zero : y <= zero)) return;
    path += `M${t + 0.1} ${zero.toFixed(4)}V${y.toFixed(4)}h0.8V${zero.toFixed(4)}z`;
  });
  return path;
}
