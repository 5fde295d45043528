import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Sampler } from './sampler.ts';
import type { RowSums } from './softmax-row.ts';

/** Sums as a graph makes them: weights and their sums in float32. */
function sumsOf(scores: Float32Array, temperature: number, blockLength: number): RowSums {
  const max = Math.max(...scores);
  const weights = scores.map((score) => Math.exp((score - max) / temperature));
  const sums = Float32Array.from({ length: Math.ceil(scores.length / blockLength) }, (_, block) =>
    weights
      .subarray(block * blockLength, (block + 1) * blockLength)
      .reduce((sum, weight) => Math.fround(sum + weight), 0),
  );
  return { max, sums, blockLength };
}

const logits = fc
  .array(fc.oneof(fc.float({ min: -30, max: 30, noNaN: true }), fc.constant(-Infinity)), {
    ...{ minLength: 1, maxLength: 40 },
  })
  .map((list) => Float32Array.from([...list, 0]));
const uniforms = fc.oneof(
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  fc.constantFrom(0, 1 - 2 ** -53),
);

describe('known sums', () => {
  test('by hand: weights 1, 2, 1 in blocks of two', () => {
    const scores = Float32Array.from([1, 2, 1], Math.log);
    const sums = { max: scores[1]!, sums: Float32Array.of(1.5, 0.5), blockLength: 2 };
    const drawn = [0, 0.2, 0.26, 0.74, 0.76].map((uniform) =>
      new Sampler().sample(scores, { uniform, sums }),
    );
    expect(drawn.map(({ token }) => token)).toEqual([0, 0, 1, 1, 2]);
    expect(drawn[2]!.logprob).toBeCloseTo(Math.log(0.5), 6);
  });

  test('draw a token whose share of the probabilities holds the number drawn', () => {
    fc.assert(
      fc.property(
        ...([
          logits,
          uniforms,
          fc.constantFrom(0.5, 1, 3),
          fc.integer({ min: 1, max: 9 }),
        ] as const),
        (scores, uniform, temperature, blockLength) => {
          const sampler = new Sampler({ temperature });
          const sums = sumsOf(scores, temperature, blockLength);
          const { token, logprob } = sampler.sample(scores, { uniform, sums });
          const probabilities = sampler.probabilities(scores);
          const before = probabilities.subarray(0, token).reduce((sum, p) => sum + p, 0);
          expect(probabilities[token]).toBeGreaterThan(0);
          expect(before).toBeLessThan(uniform + 1e-5);
          expect(before + probabilities[token]!).toBeGreaterThan(uniform - 1e-5);
          expect(logprob).toBeCloseTo(Math.log(probabilities[token]!), 5);
        },
      ),
    );
  });

  test('are left aside where filters choose', () => {
    const scores = Float32Array.of(0, 3, 1);
    const wrong = { max: 9, sums: Float32Array.of(1), blockLength: 3 };
    const sampler = new Sampler({ topK: 1 });
    const { token, logprob } = sampler.sample(scores, { uniform: 0.1, sums: wrong });
    expect(token).toBe(1);
    expect(logprob).toBeCloseTo(3 - Math.log(1 + Math.exp(3) + Math.E), 6);
  });

  test('of logits that are not numbers are refused', () => {
    const scores = Float32Array.of(0, Number.NaN);
    const sums = { max: 0, sums: Float32Array.of(Number.NaN), blockLength: 2 };
    expect(() => new Sampler().sample(scores, { uniform: 0, sums })).toThrow(
      'Cannot sample: logits must be numbers, got NaN in 1 of 2',
    );
  });
});
