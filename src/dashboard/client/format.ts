/** A number in few characters: at most 4 decimals or as many as given, and an exponent for very small
 *  and very large numbers.
 *  @example −0.05213  →  '−0.0521', '−0.052' with 3;  0.00001  →  '1.00e-5';  12  →  '12';  null and NaN  →  '–' */
export function formatNumber(x: number | null | undefined, decimals = 4): string {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  const size = Math.abs(x);
  const needsExponent = size >= 1e6 || (size > 0 && size < 5e-4);
  const text = needsExponent
    ? size.toExponential(2)
    : String(Number(size.toFixed(decimalsFor(size, decimals))));
  return x < 0 ? `−${text}` : text;
}

/** A number with a fixed number of decimals, so that a column of them is aligned.
 *  @example 0.5, 3  →  '0.500';  −2, 1  →  '−2.0';  null  →  '–';  1e−9, 3  →  '0.000' */
export function formatFixed(x: number | null | undefined, decimals: number): string {
  if (x === null || x === undefined || !Number.isFinite(x) || Math.abs(x) >= 1e6)
    return formatNumber(x);
  const text = Math.abs(x).toFixed(decimals);
  return x < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Numbers of a column with the same number of decimals: as many as formatNumber() needs for any.
 *  @example [0.5, −1.25, null]  →  ['0.50', '−1.25', '–'] */
export function formatColumn(column: readonly (number | null | undefined)[]): string[] {
  const texts = column.map((x) => formatNumber(x));
  const plain = texts.filter((text) => /^−?\d+(\.\d+)?$/.test(text));
  const decimals = Math.max(0, ...plain.map((text) => text.split('.')[1]?.length ?? 0));
  return column.map((x, i) => (plain.includes(texts[i]!) ? formatFixed(x, decimals) : texts[i]!));
}

/** A fraction as a percentage.
 *  @example 0.625  →  '62.5%';  null  →  '–' */
export function formatPercent(fraction: number | null | undefined): string {
  return fraction === null || fraction === undefined || !Number.isFinite(fraction)
    ? '–'
    : `${formatNumber(Math.round(1000 * fraction) / 10)}%`;
}

/** Bytes in decimal units, with at most one decimal.
 *  @example 850  →  '850 B', 1_240_000  →  '1.2 MB', 25_000_000  →  '25 MB' */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [unit, scaled] = [0, bytes];
  // 999.5 would be shown as 1000 of the smaller unit.
  for (; scaled >= 999.5 && unit < units.length - 1; unit++) scaled /= 1000;
  return `${scaled.toFixed(unit === 0 || scaled >= 9.95 ? 0 : 1)} ${units[unit]}`;
}

/** A number with every digit that a run records, 7 significant ones, so that equations of such numbers
 *  can be checked with a calculator.
 *  @example 0.10000000149  →  '0.1';  −0.0523411987  →  '−0.0523412';  1.5e−7  →  '1.5e-7' */
export function formatExact(x: number | null | undefined): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return formatNumber(x);
  const text = String(Number(Math.abs(x).toPrecision(7)));
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

function decimalsFor(size: number, max: number): number {
  if (size >= 1000) return 1;
  return size >= 100 ? 2 : max;
}

/** Control characters except tab and newline, and characters without width or that change the
 *  direction of text. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it must find
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Replaces hidden characters with visible signs. Tabs and newlines stay.
 *  @example 'a\u001b[1m'  →  'a␛[1m';  'a\u202eb'  →  'a⟨U+202E⟩b' */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => visibleSign(character.charCodeAt(0)));
}

/** The start of a text on one line: newlines become ↵ and tabs spaces.
 *  @example 'a\nb', 10  →  'a↵b';  'abcdef', 3  →  'abc…' */
export function oneLine(text: string, limit: number): string {
  const start = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return visibleText(start.replace(/\r?\n/g, '↵').replace(/\t/g, ' '));
}

function visibleSign(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** A number as an axis label: round numbers stay short.
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
