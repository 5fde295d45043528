import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Sampler } from './sampler.ts';
import { expOfNonPositive, type RowSums } from './softmax-row.ts';

test('expOfNonPositive() equals Math.exp to 1e-14', () => {
  let worst = 0;
  const check = (x: number) => {
    const exact = Math.exp(x);
    worst = Math.max(worst, Math.abs(expOfNonPositive(x) - exact) / exact);
  };
  for (let x = 0; x > -40; x -= 0.000317) check(x);
  expect(worst).toBeLessThan(1e-14);
  fc.assert(fc.property(fc.double({ min: -708, max: 0, noNaN: true }), check));
  expect(worst).toBeLessThan(1e-13);
});

test('expOfNonPositive() is exact at 0 and 0 for very negative numbers', () => {
  expect(expOfNonPositive(0)).toBe(1);
  expect(expOfNonPositive(-0)).toBe(1);
  expect(expOfNonPositive(-Number.MIN_VALUE)).toBe(1);
  for (const x of [-709, -1e6, -1e300, -Infinity]) expect(expOfNonPositive(x)).toBe(0);
  expect(expOfNonPositive(Number.NaN)).toBeNaN();
});

/** Sums as a graph computes them: weights and their sums in float32. */
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

describe('sample() with known sums', () => {
  test('matches a worked example: weights 1, 2, 1 in blocks of two', () => {
    const scores = Float32Array.from([1, 2, 1], Math.log);
    const sums = { max: scores[1]!, sums: Float32Array.of(1.5, 0.5), blockLength: 2 };
    const sampled = [0, 0.2, 0.26, 0.74, 0.76].map((uniform) =>
      new Sampler().sample(scores, { uniform, sums }),
    );
    expect(sampled.map(({ token }) => token)).toEqual([0, 0, 1, 1, 2]);
    expect(sampled[2]!.logprob).toBeCloseTo(Math.log(0.5), 6);
  });

  test('selects a token whose share of the cumulative probability contains uniform', () => {
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

  test('ignores the sums with filters', () => {
    const scores = Float32Array.of(0, 3, 1);
    const wrong = { max: 9, sums: Float32Array.of(1), blockLength: 3 };
    const sampler = new Sampler({ topK: 1 });
    const { token, logprob } = sampler.sample(scores, { uniform: 0.1, sums: wrong });
    expect(token).toBe(1);
    expect(logprob).toBeCloseTo(3 - Math.log(1 + Math.exp(3) + Math.E), 6);
  });

  test('rejects logits that are NaN', () => {
    const scores = Float32Array.of(0, Number.NaN);
    const sums = { max: 0, sums: Float32Array.of(Number.NaN), blockLength: 2 };
    expect(() => new Sampler().sample(scores, { uniform: 0, sums })).toThrow(
      'Cannot sample: logits must be numbers, got NaN in 1 of 2',
    );
  });
});
