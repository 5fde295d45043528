import { describe, expect, test } from 'vitest';
import { formatTick } from './format-tick.ts';

describe('formatTick()', () => {
  test('keeps round numbers short', () => {
    const ticks = [0, 0.1 + 0.2, -0.25, 1500, 25_000, 1_500_000, 2e-7, -4e-4];
    const texts = ['0', '0.3', '−0.25', '1500', '25k', '1.5M', '2e-7', '−4e-4'];
    expect(ticks.map(formatTick)).toEqual(texts);
  });
});
