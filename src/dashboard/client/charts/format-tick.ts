/** A number as a label of an axis: round numbers stay short.
 *  @example 0.30000000000000004  →  '0.3', 25000  →  '25k', 2e-7  →  '2e-7' */
export function formatTick(value: number): string {
  const text = formatSize(Math.abs(value));
  return value < 0 ? `−${text}` : text;
}

function formatSize(size: number): string {
  if (size >= 1e6) return `${trim(size / 1e6)}M`;
  if (size >= 1e4) return `${trim(size / 1e3)}k`;
  return size !== 0 && size < 1e-3 ? tiny(size) : trim(size);
}

function trim(size: number): string {
  return String(Number(size.toPrecision(6)));
}

function tiny(size: number): string {
  const [digits, exponent] = size.toExponential(3).split('e') as [string, string];
  return `${Number(digits)}e${exponent}`;
}
