const digits = '(?:\\d{1,3}(?:[,\\u00a0\\u202f]\\d{3})+(?!\\d)|\\d+)(?:\\.\\d+)?|\\.\\d+';
const sign = '(?<![\\p{L}\\p{N})\\]}.])[-−+]';
const decimal = `(?<![\\p{L}\\p{N}_])(?:${digits})(?:e[+-]?\\d+)?`;

/** A fraction a/b or \frac{a}{b}, or a decimal number, with its sign. */
const number = new RegExp(
  `(${sign})?\\$?(?:\\\\[dt]?frac\\{\\s*(\\d+)\\s*\\}\\{\\s*(\\d+)\\s*\\}|(${decimal})(?:\\s?/\\s?(\\d+)(?![\\d.,]*\\d))?)`,
  'giu',
);

/** The number that a text ends with: after the last `####` that one follows, else in the last
 *  `\boxed{…}`, else the last of the text. Commas and no-break spaces may part thousands; a point is
 *  decimal; what stands around, such as % or units, does not count.
 *  @example 'It costs $1,234.50.'  →  1234.5;  '3 of 4, so 3/4'  →  0.75;  'no number'  →  undefined
 *  @example '#### -7 (not 8)'  →  −7;  '\boxed{\frac{1}{2}} as in step 3'  →  ½ */
export function findNumber(text: string): number | undefined {
  const marked = text.split('####').slice(1).map(leadingNumber);
  const [boxed] = text.split('\\boxed{').slice(1).slice(-1).flatMap(numbersIn);
  return marked.findLast((x) => x !== undefined) ?? boxed ?? numbersIn(text).at(-1);
}

/** A heading of Markdown begins with `####` too, but with words after it. */
function leadingNumber(text: string): number | undefined {
  const start = text.replace(/^[\s$*:=]+/, '');
  return start.search(number) === 0 ? numbersIn(start)[0] : undefined;
}

function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(number), readMatch).filter(Number.isFinite);
}

function readMatch([, sign, above, below, decimal, divisor]: RegExpMatchArray): number {
  const size = above === undefined ? readDecimal(decimal!) : Number(above);
  const value = size / Number(below ?? divisor ?? 1);
  return sign === '-' || sign === '−' ? -value : value;
}

function readDecimal(text: string): number {
  return Number(text.replace(/[,\u00a0\u202f]/g, ''));
}
