import { expect, test } from 'vitest';
import { Sampler } from './sampler.ts';
import type { SamplingOptions } from './sampling-options.ts';

const wanted: [keyof SamplingOptions, number[], string, string][] = [
  [
    'temperature',
    [-0.1, Infinity, Number.NaN],
    'must be finite and at least 0',
    'use 0 for greedy',
  ],
  ['topK', [0, -1, 2.5, Infinity, Number.NaN], 'must be a whole number ≥ 1', 'leave it out to'],
  ['topP', [0, -0.5, 1.01, Number.NaN], 'must lie in (0, 1]', 'use 1 to keep every token'],
  ['minP', [-0.1, 1, Number.NaN], 'must lie in [0, 1)', 'use 0 to keep every token'],
  ['repetitionPenalty', [0, -1, Infinity, Number.NaN], 'must be finite and above 0', 'use 1 for'],
];

test.each(wanted)('new Sampler() refuses a %s of %s', (name, values, requirement, remedy) => {
  for (const value of values) {
    expect(() => new Sampler({ [name]: value })).toThrow(
      `Cannot make a sampler: ${name} ${requirement}, got ${value}; ${remedy}`,
    );
  }
});

test('new Sampler() takes the ends of every range', () => {
  const logits = Float32Array.of(Math.log(1), Math.log(2), Math.log(1));
  const ends: SamplingOptions[] = [
    {},
    { temperature: 1, topK: 3, topP: 1, minP: 0, repetitionPenalty: 1 },
    { topK: Number.MAX_SAFE_INTEGER },
    { minP: Number.MIN_VALUE },
    { topP: 1 - Number.EPSILON / 2 },
  ];
  for (const options of ends) {
    const probabilities = new Sampler(options).probabilities(logits);
    [0.25, 0.5, 0.25].forEach((p, i) => {
      expect(probabilities[i]).toBeCloseTo(p, 7);
    });
  }
  expect([...new Sampler({ topP: Number.MIN_VALUE }).probabilities(logits)]).toEqual([0, 1, 0]);
  expect([...new Sampler({ minP: 1 - 1e-9 }).probabilities(logits)]).toEqual([0, 1, 0]);
});
