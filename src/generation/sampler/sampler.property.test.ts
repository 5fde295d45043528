import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sampler, type SamplingOptions } from './sampler.ts';

const anyLogits = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.float({ min: -20, max: 20, noNaN: true }) },
      { weight: 2, arbitrary: fc.constantFrom(0, 1, -1, 5) },
      { weight: 1, arbitrary: fc.constant(-Infinity) },
    ),
    { minLength: 1, maxLength: 700, size: 'max' },
  )
  .filter((list) => list.some(Number.isFinite))
  .map((list) => Float32Array.from(list));

const anyOptions: fc.Arbitrary<SamplingOptions> = fc.record(
  {
    temperature: fc.double({ min: 0.05, max: 5, noNaN: true }),
    topK: fc.integer({ min: 1, max: 50 }),
    topP: fc.double({ min: 0.01, max: 1, noNaN: true }),
    minP: fc.double({ min: 0, max: 0.99, noNaN: true }),
    repetitionPenalty: fc.double({ min: 0.5, max: 2, noNaN: true }),
  },
  { requiredKeys: [] },
);

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

test('for any options, the kept probabilities sum to 1 and the best token is kept', () => {
  fc.assert(
    fc.property(anyLogits, anyOptions, (row, { repetitionPenalty: _, ...options }) => {
      const probabilities = new Sampler(options).probabilities(row);
      expect(sum(probabilities)).toBeCloseTo(1, 12);
      const best = Math.max(...row);
      expect(Math.max(...probabilities)).toBe(probabilities[row.lastIndexOf(best)]);
    }),
  );
});

test('for any options, the token is a kept one with the logprob of its probability', () => {
  const uniform = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(anyLogits, anyOptions, uniform, (row, options, u) => {
      const sampler = new Sampler(options);
      const seen = [0, 2];
      const { token, samplingLogprob } = sampler.sample(row, { uniform: u, seen });
      const probability = sampler.probabilities(row, { seen })[token]!;
      expect(probability).toBeGreaterThan(0);
      expect(samplingLogprob).toBeCloseTo(Math.log(probability), 10);
    }),
  );
});

test('a uniform just below or above a boundary selects neighbours in order of id', () => {
  fc.assert(
    fc.property(anyLogits, anyOptions, (row, options) => {
      const sampler = new Sampler(options);
      const seen = [0, 2];
      const probabilities = sampler.probabilities(row, { seen });
      const likely = [...probabilities.keys()].filter((id) => probabilities[id]! > 1e-9);
      likely.slice(0, 20).forEach((id) => {
        const below = sum(probabilities.subarray(0, id));
        const at = (uniform: number) => {
          const inside = Math.min(Math.max(uniform, 0), 1 - 2 ** -53);
          return sampler.sample(row, { uniform: inside, seen }).token;
        };
        expect(at(below + 1e-11)).toBe(id);
        expect(at(below + probabilities[id]! - 1e-11)).toBe(id);
        if (below > 1e-11) expect(at(below - 1e-11)).toBeLessThan(id);
      });
    }),
    { numRuns: 50 },
  );
});
