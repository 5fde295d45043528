/** A number in few characters: 4 decimals at most or as many as asked for, powers of ten where those
 *  say nothing.
 *  @example −0.05213  →  '−0.0521', '−0.052' with 3;  0.00001  →  '1.00e-5';  12  →  '12';  null and NaN  →  '–' */
export function formatNumber(x: number | null | undefined, decimals = 4): string {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  const size = Math.abs(x);
  const far = size >= 1e6 || (size > 0 && size < 5e-4);
  const text = far
    ? size.toExponential(2)
    : String(Number(size.toFixed(decimalsOf(size, decimals))));
  return x < 0 ? `−${text}` : text;
}

/** A probability from its logprob.
 *  @example ln ½  →  '50%';  ln 0.1234  →  '12.3%';  −20  →  '2.1e-7%' */
export function formatProbability(logprob: number | null | undefined): string {
  if (logprob === null || logprob === undefined || Number.isNaN(logprob)) return '–';
  const percent = 100 * Math.exp(logprob);
  if (percent > 0 && percent < 0.01) return `${percent.toExponential(1)}%`;
  return `${Number(percent.toFixed(percent < 1 ? 2 : 1))}%`;
}

function decimalsOf(size: number, most: number): number {
  if (size >= 1000) return 1;
  return size >= 100 ? 2 : most;
}
