import { expect, test } from 'vitest';
import { Sampler } from './sampler.ts';

const samplers = [
  new Sampler(),
  new Sampler({ temperature: 0 }),
  new Sampler({ topK: 2, topP: 0.9, minP: 0.01 }),
  new Sampler({ repetitionPenalty: 1.1 }),
];
const anyway = { uniform: 0.5, seen: [0] };

test('sample() says how many logits are NaN', () => {
  const logits = new Float32Array(1000);
  logits[3] = Number.NaN;
  logits[999] = Number.NaN;
  logits[5] = Infinity;
  for (const sampler of samplers) {
    expect(() => sampler.sample(logits, anyway)).toThrow(
      'Cannot sample: logits must be numbers, got NaN in 2 of 1000; compile the graph with checkNumerics',
    );
    expect(() => sampler.sample(new Float32Array(3).fill(Number.NaN), anyway)).toThrow('3 of 3');
  }
});

test('sample() says how many logits are Infinity', () => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(Float32Array.of(1, Infinity), anyway)).toThrow(
      'Cannot sample: logits must be below Infinity, got 1 of 2 equal to it',
    );
  }
});

test('sample() refuses a row without a token', () => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(Float32Array.of(-Infinity, -Infinity), anyway)).toThrow(
      'Cannot sample: at least one logit must be finite, got none of 2; leave a token unmasked',
    );
    expect(() => sampler.sample(new Float32Array(0), anyway)).toThrow('got none of 0');
  }
});

test('sample() never draws a masked token', () => {
  const logits = new Float32Array(600).fill(-Infinity);
  logits[300] = -50;
  for (const sampler of samplers) {
    for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
      const drawn = sampler.sample(logits, { uniform, seen: [] });
      expect(drawn).toEqual({ token: 300, logprob: 0, samplingLogprob: 0 });
    }
  }
});

test('sample() keeps its digits for logits of any size', () => {
  for (const shift of [0, 3e38, -3e38, 1e5]) {
    const logits = Float32Array.of(shift, shift, -Infinity);
    expect(new Sampler().sample(logits, { uniform: 0.6 })).toEqual({
      token: 1,
      logprob: -Math.LN2,
      samplingLogprob: -Math.LN2,
    });
  }
});

test.each([-0.1, 1, Number.NaN])('sample() refuses a uniform of %s', (uniform) => {
  for (const sampler of samplers) {
    expect(() => sampler.sample(new Float32Array(2), { uniform, seen: [] })).toThrow(
      `Cannot sample: uniform must lie in [0, 1), got ${uniform}`,
    );
  }
});

test('sample() refuses a repetition penalty without the ids seen', () => {
  const sampler = new Sampler({ repetitionPenalty: 1.2 });
  expect(() => sampler.sample(new Float32Array(2), { uniform: 0 })).toThrow(
    'Cannot sample: repetitionPenalty 1.2 needs the ids seen so far, got none; pass those of prompt',
  );
  expect(() => sampler.sample(new Float32Array(2), { uniform: 0, seen: [0, -1] })).toThrow(
    'Cannot sample: seen ids must be whole numbers ≥ 0, got -1 at 1',
  );
});

test('sample() leaves the logits as they are and works on a view', () => {
  const batch = Float32Array.of(9, 9, 0, Math.log(3), 9, 9);
  const before = batch.slice();
  for (const sampler of samplers) {
    const { token, logprob } = sampler.sample(batch.subarray(2, 4), { uniform: 0.9, seen: [1] });
    expect(token).toBe(1);
    expect(logprob).toBeCloseTo(Math.log(0.75), 6);
  }
  expect(batch).toEqual(before);
});

test('sample() goes from long rows to short ones and back', () => {
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
