import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { Sampler } from './sampler.ts';
import type { SamplingOptions } from './sampling-options.ts';

/** The standard score of χ² of draws against probabilities (Wilson and Hilferty's approximation). */
function chiSquareScore(counts: number[], probabilities: number[]): number {
  const draws = counts.reduce((sum, count) => sum + count, 0);
  const possible = [...probabilities.keys()].filter((i) => probabilities[i]! > 0);
  const terms = possible.map(
    (i) => (counts[i]! - draws * probabilities[i]!) ** 2 / (draws * probabilities[i]!),
  );
  const degrees = possible.length - 1;
  const spread = 2 / (9 * degrees);
  const chiSquare = terms.reduce((sum, term) => sum + term, 0);
  return ((chiSquare / degrees) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread);
}

function count(
  sampler: Sampler,
  logits: Float32Array,
  { draws, seed }: { draws: number; seed: number },
) {
  const counts = new Array<number>(logits.length).fill(0);
  for (let i = 0; i < draws; i++) {
    const uniform = randomStream(seed, 'frequencies', i).next();
    counts[sampler.sample(logits, { uniform, seen: [0, 4] }).token]!++;
  }
  return counts;
}

// Weights 1, 2, 3, 4, 6 (of 16), worked by hand under each setting.
const logits = Float32Array.from([1, 2, 3, 4, 6], Math.log);
const cases: [SamplingOptions, number[]][] = [
  [{}, [1 / 16, 2 / 16, 3 / 16, 4 / 16, 6 / 16]],
  [{ temperature: 0.5 }, [1 / 66, 4 / 66, 9 / 66, 16 / 66, 36 / 66]],
  [{ topK: 3 }, [0, 0, 3 / 13, 4 / 13, 6 / 13]],
  [{ topP: 0.8 }, [0, 0, 3 / 13, 4 / 13, 6 / 13]],
  [{ minP: 0.6 }, [0, 0, 0, 4 / 10, 6 / 10]],
  [{ repetitionPenalty: Math.log(6) / Math.log(2) }, [1 / 12, 2 / 12, 3 / 12, 4 / 12, 2 / 12]],
];

test.each(cases)('sample() draws as often as the exact distribution says: %j', (options, exact) => {
  const counts = count(new Sampler(options), logits, { draws: 20_000, seed: 1 });
  exact.forEach((p, token) => {
    if (p === 0) expect(counts[token]).toBe(0);
  });
  expect(Math.abs(chiSquareScore(counts, exact))).toBeLessThan(3.3);
});

test('the frequency test finds a distribution that is off by 7 %', () => {
  const counts = count(new Sampler(), logits, { draws: 20_000, seed: 1 });
  expect(chiSquareScore(counts, [1 / 16, 2 / 16, 3 / 16, 4.3 / 16, 5.7 / 16])).toBeGreaterThan(3.3);
});

test('sample() draws from every block of a long row', () => {
  const weights = Array.from({ length: 1000 }, (_, i) => 1 + (i % 7));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = count(new Sampler(), Float32Array.from(weights, Math.log), {
    draws: 30_000,
    seed: 2,
  });
  const score = chiSquareScore(
    counts,
    weights.map((weight) => weight / total),
  );
  expect(Math.abs(score)).toBeLessThan(3.3);
});

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

test('whatever is asked, the kept probabilities sum to 1 and the best token is kept', () => {
  fc.assert(
    fc.property(anyLogits, anyOptions, (row, { repetitionPenalty: _, ...options }) => {
      const probabilities = new Sampler(options).probabilities(row);
      expect(sum(probabilities)).toBeCloseTo(1, 12);
      const best = Math.max(...row);
      expect(Math.max(...probabilities)).toBe(probabilities[row.lastIndexOf(best)]);
    }),
  );
});

test('whatever is asked, the token is a kept one with the logprob of its probability', () => {
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

test('a uniform just below or above a boundary picks the neighbours, in order of id', () => {
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
