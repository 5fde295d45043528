import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNamedReward } from './parse-named-reward.ts';

describe('parseNamedReward()', () => {
  test.each([
    ['flesch', { name: 'flesch', options: {}, weight: 1 }],
    ['flesch=0.5', { name: 'flesch', options: {}, weight: 0.5 }],
    ['brevity:target=20', { name: 'brevity', options: { target: '20' }, weight: 1 }],
    ['brevity:target=20,weight=-0.5', { name: 'brevity', options: { target: '20' }, weight: -0.5 }],
    [
      String.raw`regex:pattern=^\d{1\,3}=$,flags=i`,
      { name: 'regex', options: { pattern: String.raw`^\d{1,3}=$`, flags: 'i' }, weight: 1 },
    ],
  ])('%s', (text, spec) => {
    expect(parseNamedReward(text)).toEqual(spec);
  });

  test('keeps every value whose commas are escaped', () => {
    const value = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\\'));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [x, y] = [a, b].map((text) => text.replaceAll(',', '\\,'));
        expect(parseNamedReward(`r:a=${x},b=${y}`).options).toEqual({ a, b });
      }),
    );
  });

  test('an option without a value and a weight that is no number are refused', () => {
    expect(() => parseNamedReward('brevity:20')).toThrow(
      'Cannot use the reward brevity:20: after the colon it must have option=value, parted by commas, got "20"',
    );
    for (const text of ['flesch=', 'flesch=much', 'flesch:weight=']) {
      expect(() => parseNamedReward(text)).toThrow(/: its weight must be a number, got "/);
    }
  });
});
