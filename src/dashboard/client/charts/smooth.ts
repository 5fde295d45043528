/** Exponential moving average that does not lean towards 0 at its start; nulls stay and count for nothing.
 *  s_n = w·s_{n−1} + (1 − w)·x_n with s_0 = 0;  ŝ_n = s_n / (1 − wⁿ)
 *  @example w=½, x=[1, null, 3]  →  [1, null, 7/3] */
export function smooth(x: readonly (number | null)[], w: number): (number | null)[] {
  let s = 0;
  let n = 0;
  return x.map((x_n) => {
    if (x_n === null) return null;
    n++;
    s = w * s + (1 - w) * x_n;
    return s / (1 - w ** n);
  });
}
