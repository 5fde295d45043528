import { describe, expect, test } from 'vitest';
import { randomStream } from '../engine/random/index.ts';
import { retryDelay } from './timing.ts';

describe('retryDelay()', () => {
  const half = { next: () => 0.5 };

  test('matches the worked example and grows up to 30 s', () => {
    const delays = [1, 2, 3, 20].map((k) => retryDelay(k, { backoff: 0.5, random: half }));
    expect(delays).toEqual([0.375, 0.75, 1.5, 22.5]);
  });

  test('is the same for the same seed', () => {
    const delays = (seed: number) => {
      const random = randomStream(seed, 'reward retries', 0);
      return [1, 2, 3].map((k) => retryDelay(k, { backoff: 0.5, random }));
    };
    expect(delays(1)).toEqual(delays(1));
    expect(delays(1)).not.toEqual(delays(2));
  });
});
