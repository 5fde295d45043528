import { describe, expect, test } from 'vitest';
import { Sampler } from './sampler.ts';

/** Logits whose softmax is proportional to the weights. */
const logitsOf = (...weights: number[]) => Float32Array.from(weights, Math.log);
const asked = { uniform: 0.5, topLogprobs: 2 };

describe('sample() with topLogprobs', () => {
  test('gives the likeliest tokens with their logprobs, and the entropy', () => {
    const { alternatives, entropy } = new Sampler().sample(logitsOf(1, 4, 1, 2), asked);
    expect([...alternatives!.ids]).toEqual([1, 3]);
    expect(alternatives!.logprobs[0]).toBeCloseTo(Math.log(1 / 2), 6);
    expect(alternatives!.logprobs[1]).toBeCloseTo(Math.log(1 / 4), 6);
    // ½·ln 2 + ¼·ln 4 + 2·⅛·ln 8 = 1.75 ln 2
    expect(entropy).toBeCloseTo(1.75 * Math.LN2, 6);
  });

  test('sees the temperature, but neither filters nor the repetition penalty', () => {
    // At temperature ½ weights 1, 2, 0 become 1, 4, 0.
    const options = { temperature: 0.5, topK: 1, repetitionPenalty: 3 };
    const drawn = new Sampler(options).sample(logitsOf(1, 2, 0), { ...asked, seen: [1] });
    expect([...drawn.alternatives!.ids]).toEqual([1, 0]);
    expect(drawn.alternatives!.logprobs[0]).toBeCloseTo(Math.log(4 / 5), 6);
    expect(drawn.entropy).toBeCloseTo(0.8 * Math.log(5 / 4) + 0.2 * Math.log(5), 6);
  });

  test('has the greedy token first', () => {
    const { token, alternatives } = new Sampler({ temperature: 0 }).sample(
      Float32Array.of(0, 2, 2, 1),
      asked,
    );
    expect([...alternatives!.ids]).toEqual([token, 2]);
  });

  test('gives the entropy alone for 0, and neither where it is not asked for', () => {
    const sampler = new Sampler();
    const none = sampler.sample(logitsOf(1, 1), { uniform: 0.5, topLogprobs: 0 });
    expect(none.alternatives!.ids).toHaveLength(0);
    expect(none.entropy).toBeCloseTo(Math.LN2, 6);
    expect(Object.keys(sampler.sample(logitsOf(1, 1), { uniform: 0.5 }))).toEqual([
      'token',
      'logprob',
      'samplingLogprob',
    ]);
  });
});
