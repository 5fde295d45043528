import { describe, expect, test } from 'vitest';
import { fitLine, klTrend, valueTrend } from './trend.ts';

describe('fitLine()', () => {
  test('returns the hand-worked change and residual', () => {
    // ȳ = 2, slope (1.5·1 + 0 + 0 + 1.5·1)/5 = 0.6; residuals −0.1, 0.3, −0.3, 0.1.
    const { change, residual } = fitLine([1, 2, 2, 3]);
    expect(change).toBeCloseTo(1.8, 12);
    expect(residual).toBeCloseTo(Math.sqrt(0.2 / 2), 12);
  });

  test('has no residual for numbers on a line, or for two numbers', () => {
    expect(fitLine([3, 1, -1])).toEqual({ change: -4, residual: 0 });
    expect(fitLine([3, 1])).toEqual({ change: -2, residual: 0 });
  });
});

describe('klTrend()', () => {
  const options = { window: 4, klStability: 0.2 };

  test.each([
    // Mean 5: a change of up to 1 is stable.
    [[2, 4, 6, 8], 'rising', 6, 'The KL is still rising: by 6 to 8 nats per response'],
    [[8, 6, 4, 2], 'falling', -6, 'The KL is falling: by 6 to 2 nats per response'],
    // Slope (−0.5·0.2 + 0.5·−0.2)/5 = −0.04.
    [[5, 5.2, 4.8, 5], 'stable', -0.12, 'The KL is stable: about 5 nats per response'],
    // Relative to its mean it doubles, but 0.03 nats are negligible.
    [[0.01, 0.02, 0.03, 0.04], 'stable', 0.03, 'The KL is stable: about 0.025 nats'],
    // Only the last four count.
    [[90, 5, 5, 5, 5], 'stable', 0, 'The KL is stable'],
  ] as const)('%j is %s', (history, direction, change, message) => {
    const trend = klTrend(history, options);
    expect(trend.direction).toBe(direction);
    expect(trend.change).toBeCloseTo(change, 12);
    expect(trend.message).toContain(message);
    expect(trend.message).toContain('over 4 evaluations');
  });

  test('is unknown before there are enough evaluations, and with a NaN', () => {
    const message = 'It takes 4 evaluations to say whether the KL is stable';
    const unknown = { direction: 'unknown', change: Number.NaN, message };
    expect(klTrend([1, 2, 3], options)).toEqual(unknown);
    expect(klTrend([1, 2, Number.NaN, 3], options)).toEqual(unknown);
  });
});

describe('valueTrend()', () => {
  const options = { window: 4, valueStability: 0.05 };

  test.each([
    // Slope (1.5·0.25 + 0.5·0.05 + 0.5·0.05 + 1.5·0.25)/5 = 0.16.
    [
      [0.2, 0.4, 0.5, 0.7],
      'rising',
      0.48,
      'still learning: the explained variance rose by 0.48 to',
    ],
    [[0.7, 0.5, 0.4, 0.2], 'falling', -0.48, 'getting worse: the explained variance fell by 0.48'],
    // Slope (−1.5·−0.005 − 0.5·0.005 + 0.5·−0.005 + 1.5·0.005)/5 = 0.002.
    [[0.7, 0.71, 0.7, 0.71], 'stable', 0.006, 'has converged: the explained variance stays at'],
  ] as const)('%j is %s', (history, direction, change, message) => {
    const trend = valueTrend(history, options);
    expect(trend.direction).toBe(direction);
    expect(trend.change).toBeCloseTo(change, 12);
    expect(trend.message).toContain(message);
  });
});
