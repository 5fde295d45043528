import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareConfigs } from './config-diff.ts';

describe('compareConfigs()', () => {
  test('compares settings and marks those that differ', () => {
    expect(compareConfigs([{ a: 1 }, { a: 1, b: { c: [2] } }])).toEqual([
      { key: 'a', values: ['1', '1'], differs: false },
      { key: 'b.c', values: [undefined, '[2]'], differs: true },
    ]);
  });

  test('equal lists do not differ, and empty objects are kept', () => {
    expect(
      compareConfigs([
        { stop: ['a'], x: {} },
        { stop: ['a'], x: {} },
      ]),
    ).toEqual([
      { key: 'stop', values: ['["a"]', '["a"]'], differs: false },
      { key: 'x', values: ['{}', '{}'], differs: false },
    ]);
  });

  test('a config does not differ from itself', () => {
    const config = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(config, (one) => {
        expect(compareConfigs([one, one]).some(({ differs }) => differs)).toBe(false);
      }),
    );
  });
});
