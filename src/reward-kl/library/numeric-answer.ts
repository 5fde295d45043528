import { z } from 'zod';
import { findNumber } from './find-number.ts';
import { type FromSample, type LibraryReward, parseOptions } from './library-reward.ts';
import { nameColumn, readColumn } from './read-column.ts';

export const numericAnswerOptions = z.strictObject({
  answer: z.string().min(1).describe('Column with the right number, or a text that ends with it'),
  tolerance: z.number().min(0).default(0).describe('How far from it a number still is right'),
});

export interface NumericAnswerOptions extends Omit<z.input<typeof numericAnswerOptions>, 'answer'> {
  /** A column of the data, or a function that gives the right number. */
  readonly answer: FromSample<number | string>;
}

/** 1 for a response whose last number x is right, |x − answer| ≤ tolerance, else 0. An answer is
 *  read from a text in the same way, so that a worked solution may stand in its column.
 *  @example answer=1234.5: '#### 1,234.5'  →  1;  '1234'  →  0;  tolerance=0.5: '1234'  →  1 */
export function numericAnswer({ answer: from, ...options }: NumericAnswerOptions): LibraryReward {
  const given = { ...options, answer: nameColumn(from) };
  const { tolerance } = parseOptions(numericAnswerOptions, given, { reward: 'numericAnswer' });
  return function numericAnswer(sample) {
    const answer = readColumn(sample, { from, expected: 'a number or a text with one', accepts });
    const wanted = toNumber(answer)!;
    const x = findNumber(sample.response);
    // 0.4 − 0.3 is a little more than 0.1.
    const slack = 1e-12 * Math.abs(wanted);
    return x !== undefined && Math.abs(x - wanted) <= tolerance + slack ? 1 : 0;
  };
}

function accepts(value: unknown): value is number | string {
  return toNumber(value) !== undefined;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'string') return findNumber(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
