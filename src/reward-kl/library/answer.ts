import { z } from 'zod';
import {
  columnName,
  type FromSample,
  type LibraryReward,
  ngrams,
  parseOptions,
  readColumn,
} from './library-reward.ts';

export const numericAnswerOptions = z.strictObject({
  answer: z.string().min(1).describe('Column with the correct number, or a text that ends with it'),
  tolerance: z.number().min(0).default(0).describe('Largest accepted difference'),
});

/** The correct answer and its tolerance. */
export interface NumericAnswerOptions extends Omit<z.input<typeof numericAnswerOptions>, 'answer'> {
  /** A column of the dataset, or a function that returns the correct number. */
  readonly answer: FromSample<number | string>;
}

/** 1 if the response's final number x is correct, |x − answer| ≤ tolerance, else 0. An answer that is
 *  text is parsed in the same way, so its column may contain a worked solution.
 *  @example answer=1234.5: '#### 1,234.5'  →  1;  '1234'  →  0;  tolerance=0.5: '1234'  →  1 */
export function numericAnswer({ answer: from, ...options }: NumericAnswerOptions): LibraryReward {
  const named = { ...options, answer: columnName(from) };
  const { tolerance } = parseOptions(numericAnswerOptions, named, { reward: 'numericAnswer' });
  return function numericAnswer(sample) {
    const answer = readColumn(sample, {
      ...{ from, expected: 'a number or a text with one', accepts: isNumeric },
    });
    const correct = toNumber(answer)!;
    const x = findNumber(sample.response);
    // 0.4 − 0.3 is slightly more than 0.1.
    const slack = 1e-12 * Math.abs(correct);
    return x !== undefined && Math.abs(x - correct) <= tolerance + slack ? 1 : 0;
  };
}

function isNumeric(value: unknown): value is number | string {
  return toNumber(value) !== undefined;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'string') return findNumber(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

const digits = '(?:\\d{1,3}(?:[,\\u00a0\\u202f]\\d{3})+(?!\\d)|\\d+)(?:\\.\\d+)?|\\.\\d+';
const sign = '(?<![\\p{L}\\p{N})\\]}.])[-−+]';
const decimal = `(?<![\\p{L}\\p{N}_])(?:${digits})(?:e[+-]?\\d+)?`;

/** A fraction a/b or \frac{a}{b}, or a decimal number, with its sign. */
const number = new RegExp(
  `(${sign})?\\$?(?:\\\\[dt]?frac\\{\\s*(\\d+)\\s*\\}\\{\\s*(\\d+)\\s*\\}|(${decimal})(?:\\s?/\\s?(\\d+)(?![\\d.,]*\\d))?)`,
  'giu',
);

/** The final number of a text: after the last `####` that is followed by one, else in the last
 *  `\boxed{…}`, else the last in the text. Commas and no-break spaces may separate thousands; a point
 *  is decimal; surrounding text such as % or units is ignored.
 *  @example 'It costs $1,234.50.'  →  1234.5;  '3 of 4, so 3/4'  →  0.75;  'no number'  →  undefined
 *  @example '#### -7 (not 8)'  →  −7;  '\boxed{\frac{1}{2}} as in step 3'  →  ½ */
export function findNumber(text: string): number | undefined {
  const marked = text.split('####').slice(1).map(leadingNumber);
  const [boxed] = text.split('\\boxed{').slice(1).slice(-1).flatMap(numbersIn);
  return marked.findLast((x) => x !== undefined) ?? boxed ?? numbersIn(text).at(-1);
}

/** Undefined for a Markdown heading, which also starts with `####` but continues with words. */
function leadingNumber(text: string): number | undefined {
  const start = text.replace(/^[\s$*:=]+/, '');
  return start.search(number) === 0 ? numbersIn(start)[0] : undefined;
}

function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(number), parseMatch).filter(Number.isFinite);
}

function parseMatch([, sign, above, below, decimal, divisor]: RegExpMatchArray): number {
  const size = above === undefined ? parseDecimal(decimal!) : Number(above);
  const value = size / Number(below ?? divisor ?? 1);
  return sign === '-' || sign === '−' ? -value : value;
}

function parseDecimal(text: string): number {
  return Number(text.replace(/[,\u00a0\u202f]/g, ''));
}

export const rougeOptions = z.strictObject({
  reference: z.string().min(1).describe('Column with the reference text'),
  variant: z
    .enum(['rouge1', 'rouge2', 'rougeL'])
    .default('rougeL')
    .describe('Words, word pairs, or the longest common subsequence'),
  letters: z
    .enum(['ascii', 'unicode'])
    .default('ascii')
    .describe('What words consist of: a to z and digits, as in rouge-score, or any script'),
});

/** The reference text and the ROUGE variant. */
export interface RougeOptions extends Omit<z.input<typeof rougeOptions>, 'reference'> {
  /** A column of the dataset, or a function that returns the text. */
  readonly reference: FromSample<string>;
}

/** ROUGE's F1 against a reference (Lin, 2004), in [0, 1], as the rouge-score package computes it
 *  without stemming: 2m/(a + b) for m matches among a units of the response and b of the reference.
 *  Units are words, word pairs, or for rougeL words with m the longest common subsequence.
 *  @example reference 'The cat sat on the mat.', response 'On the mat lay the cat':
 *    rouge1  →  10/12;  rouge2  →  6/10;  rougeL  →  6/12 (on the mat) */
export function rouge({ reference: from, ...options }: RougeOptions): LibraryReward {
  const named = { ...options, reference: columnName(from) };
  const { variant, letters } = parseOptions(rougeOptions, named, { reward: 'rouge' });
  return function rouge(sample) {
    const reference = readColumn(sample, { from, expected: 'text', accepts: isText });
    return variants[variant](tokenize(sample.response, letters), tokenize(reference, letters));
  };
}

const variants = {
  rouge1: (response: readonly string[], reference: readonly string[]) =>
    overlapF1(response, reference),
  rouge2: (response: readonly string[], reference: readonly string[]) =>
    overlapF1(ngrams(response, 2), ngrams(reference, 2)),
  rougeL: (response: readonly string[], reference: readonly string[]) =>
    f1(commonSubsequence(response, reference), response.length + reference.length),
};

function tokenize(text: string, letters: 'ascii' | 'unicode'): string[] {
  const words = letters === 'ascii' ? /[a-z0-9]+/g : /[\p{L}\p{M}\p{N}]+/gu;
  return text.toLowerCase().match(words) ?? [];
}

function overlapF1(response: readonly string[], reference: readonly string[]): number {
  const unmatched = new Map<string, number>();
  for (const unit of reference) unmatched.set(unit, (unmatched.get(unit) ?? 0) + 1);
  let matches = 0;
  for (const unit of response) {
    const count = unmatched.get(unit) ?? 0;
    if (count > 0) matches++;
    unmatched.set(unit, count - 1);
  }
  return f1(matches, response.length + reference.length);
}

/** The length of the longest common subsequence.
 *  @example 'a b c d' and 'b x d'  →  2 */
function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  let above = new Uint32Array(b.length + 1);
  for (const word of a) {
    const row = new Uint32Array(b.length + 1);
    for (let j = 0; j < b.length; j++) {
      row[j + 1] = word === b[j] ? above[j]! + 1 : Math.max(above[j + 1]!, row[j]!);
    }
    above = row;
  }
  return above[b.length]!;
}

function f1(matches: number, units: number): number {
  return units === 0 ? 0 : (2 * matches) / units;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
