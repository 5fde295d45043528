import { expect, test } from 'vitest';
import { z } from 'zod';
import { configFields } from './config-fields.ts';

test.each([
  [z.int(), 'a whole number'],
  [z.int().min(1), 'a whole number ≥ 1'],
  [z.number(), 'a number'],
  [z.number().positive(), 'a number > 0'],
  [z.number().min(0).lt(1).default(0), 'a number ≥ 0 and < 1'],
  [z.number().gt(0).max(1).optional(), 'a number > 0 and ≤ 1'],
  [z.boolean(), 'true or false'],
  [z.enum(['a', 'b', 'c']), 'a, b or c'],
  [z.enum(['a']), 'a'],
  [z.string(), 'text'],
  [z.string().min(1), 'text that is not empty'],
  [z.array(z.int().min(1)), 'a list, each a whole number ≥ 1'],
])('configFields() describes the rule of a field (%#)', (field, rule) => {
  expect(configFields(z.strictObject({ field }))[0]?.rule).toBe(rule);
});

test('configFields() returns what flags and docs need, in order', () => {
  const schema = z.strictObject({
    stop: z.array(z.string()).default([]).describe('Ends a text'),
    kind: z.enum(['a', 'b']).default('b').describe('Which'),
  });
  const [stop, kind] = configFields(schema);
  expect(stop).toMatchObject({ key: 'stop', type: 'array', description: 'Ends a text' });
  expect(stop?.items).toEqual({ type: 'string', rule: 'text' });
  expect(kind).toMatchObject({ key: 'kind', choices: ['a', 'b'], default: 'b' });
  expect([kind?.accepts('a'), kind?.accepts('c')]).toEqual([true, false]);
});
