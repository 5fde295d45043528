export { shellQuote, shortPath } from '../fs/index.ts';

/** Bytes in decimal units, with three digits.
 *  @example 1_192_000_000  →  '1.19 GB' */
export function formatBytes(bytes: number): string {
  return formatScaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB']);
}

/** A large count, with three digits.
 *  @example 596_049_920  →  '596 M' */
export function formatCount(count: number): string {
  return formatScaled(count, ['', 'k', 'M', 'B', 'T']).trim();
}

/** A whole number with thousands separators.
 *  @example 151_936  →  '151,936' */
export function formatWhole(value: number): string {
  return value.toLocaleString('en');
}

/** @example 3725  →  '1 h 2 min', 75  →  '1 min 15 s' */
export function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A number in about four digits, or a dash if it is missing.
 *  @example 0.123456  →  '0.123', −12.345  →  '-12.35', −1234.4  →  '-1234', NaN  →  '–' */
export function formatNumber(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(1);
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return value.toFixed(digits).replace(/^-(?=[0.]+$)/, '');
}

/** A fraction as a percentage, or a dash if it is missing.
 *  @example 0.755  →  '75.5 %', NaN  →  '–' */
export function formatPercent(fraction: number | undefined): string {
  return fraction === undefined || Number.isNaN(fraction)
    ? '–'
    : `${(100 * fraction).toFixed(1)} %`;
}

function formatScaled(value: number, units: readonly string[]): string {
  let unit = 0;
  let scaled = value;
  // 999.5 would be shown as 1000 of the smaller unit.
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    unit++;
  }
  const digits = unit === 0 ? 0 : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return `${scaled.toFixed(digits)} ${units[unit]}`;
}
