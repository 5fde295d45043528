import { describe, expect, it } from 'vitest';
import { rolloutMismatch, rolloutWeights } from './rollout-weights.ts';

const samplingLogprobs = Float32Array.of(-1, -2, -3);
const logprobs = Float32Array.of(-1 + Math.log(0.5), -2, -3 + Math.log(4));

describe('rolloutWeights()', () => {
  it('are π_old/π_drawn, cut at the cap', () => {
    const weights = rolloutWeights({ logprobs, samplingLogprobs }, 2)!;
    for (const [t, expected] of [0.5, 1, 2].entries()) expect(weights[t]).toBeCloseTo(expected, 6);
  });

  it('are not there where tokens were drawn from π_old, or nothing is corrected', () => {
    expect(rolloutWeights({ logprobs }, 2)).toBeUndefined();
    expect(rolloutWeights({ logprobs, samplingLogprobs }, 0)).toBeUndefined();
  });
});

describe('rolloutMismatch()', () => {
  it('gives the hand-worked divergence', () => {
    const drawn = { logprobs: Float32Array.of(Math.log(2) - 3, -1) };
    expect(rolloutMismatch({ ...drawn, samplingLogprobs: Float32Array.of(-3, -1) })).toBeCloseTo(
      0.1534,
      4,
    );
  });

  it('is 0 where tokens were drawn from π_old', () => {
    expect(rolloutMismatch({ logprobs })).toBe(0);
  });
});
