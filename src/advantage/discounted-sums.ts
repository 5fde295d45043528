import { expectLengths } from '../columns/index.ts';

/** Sums from each place to the end of its sequence, later ones discounted.
 *  S_t = x_t + c·S_{t+1} = Σ_i c^i·x_{t+i};  S after the end = 0
 *  @example c=½, x=[4, 0, 2]  →  S=[4½, 1, 2] */
export function discountedSums(
  x: Float32Array,
  { offsets, discount: c }: { readonly offsets: Int32Array; readonly discount: number },
): Float32Array {
  expectLengths({ x }, { action: 'add up a sequence', length: offsets.at(-1) ?? 0 });
  const sums = new Float32Array(x.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let sum = 0;
    for (let t = offsets[i + 1]! - 1; t >= offsets[i]!; t--) {
      sum = x[t]! + c * sum;
      sums[t] = sum;
    }
  }
  return sums;
}
