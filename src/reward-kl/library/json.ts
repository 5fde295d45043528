import { z } from 'zod';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { fenced, readJson } from './read-json.ts';

export const jsonOptions = z.strictObject({
  type: z
    .enum(['any', 'object', 'array'])
    .default('any')
    .describe('What the JSON must be; a bare number is JSON too'),
  fenced,
});

export type JsonOptions = z.input<typeof jsonOptions>;

/** 1 for a response that is JSON and nothing else, else 0.
 *  @example '{"a": 1}'  →  1;  '{a: 1}'  →  0;  type='object': '42'  →  0 */
export function json(options: JsonOptions = {}): LibraryReward {
  const { type, ...reading } = parseOptions(jsonOptions, options, { reward: 'json' });
  return function json({ response }) {
    const read = readJson(response, reading);
    return read !== undefined && (type === 'any' || typeOf(read.value) === type) ? 1 : 0;
  };
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
