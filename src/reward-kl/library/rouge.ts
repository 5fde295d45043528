import { z } from 'zod';
import { type FromSample, type LibraryReward, parseOptions } from './library-reward.ts';
import { ngrams } from './ngrams.ts';
import { nameColumn, readColumn } from './read-column.ts';

export const rougeOptions = z.strictObject({
  reference: z.string().min(1).describe('Column with the text to be like'),
  variant: z
    .enum(['rouge1', 'rouge2', 'rougeL'])
    .default('rougeL')
    .describe('Words, pairs of words, or the longest common subsequence'),
  letters: z
    .enum(['ascii', 'unicode'])
    .default('ascii')
    .describe('What words are made of: a to z and digits, as in rouge-score, or any script'),
});

export interface RougeOptions extends Omit<z.input<typeof rougeOptions>, 'reference'> {
  /** A column of the data, or a function that gives the text. */
  readonly reference: FromSample<string>;
}

/** ROUGE's F1 against a reference (Lin, 2004), in [0, 1], as the rouge-score package gives it
 *  without stemming: 2m/(a + b) for m matches among a units of the response and b of the reference.
 *  Units are words, pairs of words, or for rougeL words with m the longest common subsequence.
 *  @example reference 'The cat sat on the mat.', response 'On the mat lay the cat':
 *    rouge1  →  10/12;  rouge2  →  6/10;  rougeL  →  6/12 (on the mat) */
export function rouge({ reference: from, ...options }: RougeOptions): LibraryReward {
  const given = { ...options, reference: nameColumn(from) };
  const { variant, letters } = parseOptions(rougeOptions, given, { reward: 'rouge' });
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
  const left = new Map<string, number>();
  for (const unit of reference) left.set(unit, (left.get(unit) ?? 0) + 1);
  let matches = 0;
  for (const unit of response) {
    const count = left.get(unit) ?? 0;
    if (count > 0) matches++;
    left.set(unit, count - 1);
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
