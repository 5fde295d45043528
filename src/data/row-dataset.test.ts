import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitPrompts } from './row-dataset.ts';

const toPrompts = (texts: readonly string[]) => texts.map((text, i) => ({ text, i }));
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `prompt ${i}`);

describe('splitPrompts()', () => {
  test.each([
    [25, 0.1, 3],
    [24, 0.1, 2],
    [2, 0.1, 1],
    [2, 0.99, 1],
    [1, 0.5, 0],
    [10, 0, 0],
    [10, 0.25, 3],
  ])('of %i texts with fraction %f puts %i into validation', (count, fraction, expected) => {
    const { train, validation } = splitPrompts(toPrompts(numbered(count)), { fraction, seed: 1 });
    expect([train.length, validation.length]).toEqual([count - expected, expected]);
  });

  test('loses and leaks nothing, keeps the order, and takes the fraction of distinct texts', () => {
    const texts = fc.array(fc.string({ maxLength: 2 }), { minLength: 1 });
    const fraction = fc.double({ min: 0, max: 0.99, noNaN: true });
    fc.assert(
      fc.property(texts, fraction, fc.integer(), (all, part, seed) => {
        const prompts = toPrompts(all);
        const { train, validation } = splitPrompts(prompts, { fraction: part, seed });
        expect([...train, ...validation].sort((a, b) => a.i - b.i)).toEqual(prompts);
        for (const side of [train, validation]) {
          expect(side).toEqual([...side].sort((a, b) => a.i - b.i));
        }
        const held = new Set(validation.map(({ text }) => text));
        expect(train.filter(({ text }) => held.has(text))).toEqual([]);
        const different = new Set(all).size;
        const expected = Math.min(Math.max(part * different, part > 0 ? 1 : 0), different - 1);
        expect(Math.abs(held.size - expected)).toBeLessThanOrEqual(0.5);
        expect(train.length).toBeGreaterThan(0);
      }),
    );
  });

  test('depends on seed and texts, not on the order', () => {
    const texts = numbered(100);
    const held = (order: readonly string[], seed: number) =>
      splitPrompts(toPrompts(order), { fraction: 0.2, seed })
        .validation.map(({ text }) => text)
        .sort();
    const first = held(texts, 7);
    expect(held(texts, 7)).toEqual(first);
    expect(held(texts.toReversed(), 7)).toEqual(first);
    expect(held(texts, 8)).not.toEqual(first);
  });

  test('is the same on every machine', () => {
    const { validation } = splitPrompts(toPrompts(numbered(20)), { fraction: 0.2, seed: 42 });
    // Computed in Python from the definition of randomStream().
    expect(validation.map(({ i }) => i)).toEqual([4, 8, 12, 14]);
  });
});
