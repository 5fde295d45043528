import { expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { Sampler, type SamplingOptions } from './sampler.ts';

/** The standard score of χ² of samples against probabilities (Wilson and Hilferty's approximation). */
function chiSquareScore(counts: number[], probabilities: number[]): number {
  const samples = counts.reduce((sum, count) => sum + count, 0);
  const possible = [...probabilities.keys()].filter((i) => probabilities[i]! > 0);
  const terms = possible.map(
    (i) => (counts[i]! - samples * probabilities[i]!) ** 2 / (samples * probabilities[i]!),
  );
  const degrees = possible.length - 1;
  const spread = 2 / (9 * degrees);
  const chiSquare = terms.reduce((sum, term) => sum + term, 0);
  return ((chiSquare / degrees) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread);
}

function count(
  sampler: Sampler,
  logits: Float32Array,
  { samples, seed }: { samples: number; seed: number },
) {
  const counts = new Array<number>(logits.length).fill(0);
  for (let i = 0; i < samples; i++) {
    const uniform = randomStream(seed, 'frequencies', i).next();
    counts[sampler.sample(logits, { uniform, seen: [0, 4] }).token]!++;
  }
  return counts;
}

// Weights 1, 2, 3, 4, 6 (of 16), worked out for each setting.
const logits = Float32Array.from([1, 2, 3, 4, 6], Math.log);
const cases: [SamplingOptions, number[]][] = [
  [{}, [1 / 16, 2 / 16, 3 / 16, 4 / 16, 6 / 16]],
  [{ temperature: 0.5 }, [1 / 66, 4 / 66, 9 / 66, 16 / 66, 36 / 66]],
  [{ topK: 3 }, [0, 0, 3 / 13, 4 / 13, 6 / 13]],
  [{ topP: 0.8 }, [0, 0, 3 / 13, 4 / 13, 6 / 13]],
  [{ minP: 0.6 }, [0, 0, 0, 4 / 10, 6 / 10]],
  [{ repetitionPenalty: Math.log(6) / Math.log(2) }, [1 / 12, 2 / 12, 3 / 12, 4 / 12, 2 / 12]],
];

test.each(cases)('sample() has the frequencies of the exact distribution: %j', (options, exact) => {
  const counts = count(new Sampler(options), logits, { samples: 20_000, seed: 1 });
  exact.forEach((p, token) => {
    if (p === 0) expect(counts[token]).toBe(0);
  });
  expect(Math.abs(chiSquareScore(counts, exact))).toBeLessThan(3.3);
});

test('the frequency test detects a distribution that is off by 7 %', () => {
  const counts = count(new Sampler(), logits, { samples: 20_000, seed: 1 });
  expect(chiSquareScore(counts, [1 / 16, 2 / 16, 3 / 16, 4.3 / 16, 5.7 / 16])).toBeGreaterThan(3.3);
});

test('sample() samples from every block of a long row', () => {
  const weights = Array.from({ length: 1000 }, (_, i) => 1 + (i % 7));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = count(new Sampler(), Float32Array.from(weights, Math.log), {
    samples: 30_000,
    seed: 2,
  });
  const score = chiSquareScore(
    counts,
    weights.map((weight) => weight / total),
  );
  expect(Math.abs(score)).toBeLessThan(3.3);
});
