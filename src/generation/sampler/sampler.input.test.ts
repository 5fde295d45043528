import { expect, test } from 'vitest';
import { Sampler, type SamplingOptions } from './sampler.ts';

const invalid: [keyof SamplingOptions, number[], string, string][] = [
  [
    'temperature',
    [-0.1, Infinity, Number.NaN],
    'must be finite and at least 0',
    'use 0 for greedy sampling',
  ],
  ['topK', [0, -1, 2.5, Infinity, Number.NaN], 'must be a whole number ≥ 1', 'omit it to'],
  ['topP', [0, -0.5, 1.01, Number.NaN], 'must be in (0, 1]', 'use 1 to keep every token'],
  ['minP', [-0.1, 1, Number.NaN], 'must be in [0, 1)', 'use 0 to keep every token'],
  ['repetitionPenalty', [0, -1, Infinity, Number.NaN], 'must be finite and above 0', 'use 1 for'],
];

test.each(invalid)('new Sampler() rejects a %s of %s', (name, values, requirement, remedy) => {
  for (const value of values) {
    expect(() => new Sampler({ [name]: value })).toThrow(
      `Cannot create a sampler: ${name} ${requirement}, got ${value}; ${remedy}`,
    );
  }
});

test('new Sampler() accepts the limits of every range', () => {
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

const samplers = [
  new Sampler(),
  new Sampler({ temperature: 0 }),
  new Sampler({ topK: 2, topP: 0.9, minP: 0.01 }),
  new Sampler({ repetitionPenalty: 1.1 }),
];
const options = { uniform: 0.5, seen: [0] };

test('sample() reports how many logits are NaN', () => {
  const logits = new Float32Array(1000);
  logits[3] = Number.NaN;
  logits[999] = Number.NaN;
  logits[5] = Infinity;
  for (const sampler of samplers) {
    expect(() => sampler.sample(logits, options)).toThrow(
      'Cannot sample: logits must be numbers, got NaN in 2 of 1000; compile the graph with checkNumerics',
    );
    expect(() => sampler.sample(new Float32Array(3).fill(Number.NaN), options)).toThrow('3 of 3');
  }
});

test('sample() reports how many logits are Infinity', () => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(Float32Array.of(1, Infinity), options)).toThrow(
      'Cannot sample: logits must be below Infinity, got Infinity in 1 of 2',
    );
  }
});

test('sample() rejects a row without a token', () => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(Float32Array.of(-Infinity, -Infinity), options)).toThrow(
      'Cannot sample: at least one logit must be finite, got none of 2; leave a token unmasked',
    );
    expect(() => sampler.sample(new Float32Array(0), options)).toThrow('got none of 0');
  }
});

test('sample() never selects a masked token', () => {
  const logits = new Float32Array(600).fill(-Infinity);
  logits[300] = -50;
  for (const sampler of samplers) {
    for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
      const sampled = sampler.sample(logits, { uniform, seen: [] });
      expect(sampled).toEqual({ token: 300, logprob: 0, samplingLogprob: 0 });
    }
  }
});

test('sample() is accurate for logits of any size', () => {
  for (const shift of [0, 3e38, -3e38, 1e5]) {
    const logits = Float32Array.of(shift, shift, -Infinity);
    expect(new Sampler().sample(logits, { uniform: 0.6 })).toEqual({
      token: 1,
      logprob: -Math.LN2,
      samplingLogprob: -Math.LN2,
    });
  }
});

test.each([-0.1, 1, Number.NaN])('sample() rejects a uniform of %s', (uniform) => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(new Float32Array(2), { uniform, seen: [] })).toThrow(
      `Cannot sample: uniform must be in [0, 1), got ${uniform}`,
    );
  }
});

test('sample() rejects a repetition penalty without the ids seen', () => {
  const sampler = new Sampler({ repetitionPenalty: 1.2 });
  expect(() => sampler.sample(new Float32Array(2), { uniform: 0 })).toThrow(
    'Cannot sample: repetitionPenalty 1.2 needs the ids seen so far, got none; pass the ids of prompt',
  );
  expect(() => sampler.sample(new Float32Array(2), { uniform: 0, seen: [0, -1] })).toThrow(
    'Cannot sample: seen ids must be whole numbers ≥ 0, got -1 at 1',
  );
});

test('sample() does not change the logits and works on a view', () => {
  const batch = Float32Array.of(9, 9, 0, Math.log(3), 9, 9);
  const before = batch.slice();
  for (const sampler of samplers) {
    const { token, logprob } = sampler.sample(batch.subarray(2, 4), { uniform: 0.9, seen: [1] });
    expect(token).toBe(1);
    expect(logprob).toBeCloseTo(Math.log(0.75), 6);
  }
  expect(batch).toEqual(before);
});

test('sample() switches between long and short rows', () => {
  const long = Float32Array.from({ length: 2000 }, (_, i) => Math.sin(i));
  const short = Float32Array.of(0, 1);
  const options = { topP: 0.9, topK: 1500, repetitionPenalty: 1.1 };
  const used = new Sampler(options);
  for (const logits of [long, short, long, short]) {
    for (const uniform of [0.1, 0.7]) {
      const fresh = new Sampler(options).sample(logits, { uniform, seen: [0, 1] });
      expect(used.sample(logits, { uniform, seen: [0, 1] })).toEqual(fresh);
    }
  }
});
