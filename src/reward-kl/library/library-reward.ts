import type { z } from 'zod';
import { parseConfig } from '../../config/parse-config.ts';
import type { RewardSample } from '../reward-source.ts';

/** A reward of the library: returns one number per response, synchronously. The function's name is the
 *  name of the reward source. */
export type LibraryReward = (sample: RewardSample) => number;

/** A column of the dataset, or a function that returns its value. */
export type FromSample<T> = string | ((sample: RewardSample) => T);

/** Checks the options of a reward and fills in the defaults. */
export function parseOptions<S extends z.ZodObject>(
  schema: S,
  options: unknown,
  { reward }: { readonly reward: string },
): z.output<S> {
  return parseConfig(schema, options, { name: `the reward ${reward}` });
}

export interface ColumnOptions<T> {
  readonly from: FromSample<T>;
  /** What the value must be, to follow "must be": `text`. */
  readonly expected: string;
  accepts(value: unknown): value is T;
}

/** Reads and checks a sample's column, or what the user's function returns. */
export function readColumn<T>(
  sample: RewardSample,
  { from, expected, accepts }: ColumnOptions<T>,
): T {
  const value = typeof from === 'function' ? from(sample) : sample.row?.[from];
  if (accepts(value)) return value;
  const subject =
    typeof from === 'function' ? 'what the function returns for' : `column "${from}" of`;
  const columns = Object.keys(sample.row ?? {}).join(', ') || 'no columns';
  const remedy = typeof from === 'function' ? '' : `; its row has ${columns}`;
  throw new TypeError(
    `${subject} prompt ${sample.promptIdx} must be ${expected}, got ${show(value)}${remedy}`,
  );
}

/** A column's name, to be validated with the other options; a function needs no validation. */
export function columnName(from: FromSample<unknown>): string {
  return typeof from === 'function' ? 'a function' : from;
}

/** The words of a text: letters, marks and digits of any script, with inner apostrophes and hyphens.
 *  Text without spaces, as in Chinese, is one word.
 *  @example "Don’t stop: it's well-known!"  →  ["Don't", 'stop', "it's", 'well-known'] */
export function splitWords(text: string): string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  return words.map((word) => word.replaceAll('’', "'"));
}

/** All sequences of n consecutive words; none if the text has fewer.
 *  @example ['a', 'b', 'c'], n=2  →  ['a b', 'b c'] */
export function ngrams(words: readonly string[], n: number): string[] {
  return Array.from({ length: Math.max(0, words.length - n + 1) }, (_, i) =>
    words.slice(i, i + n).join(' '),
  );
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value)).slice(0, 60);
}
