import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { Sampler, type SamplingOptions } from './sampler.ts';
import { expOfNonPositive } from './softmax-row.ts';

/** Logits whose softmax is proportional to the weights. */
const logitsOf = (...weights: number[]) => Float32Array.from(weights, Math.log);

/** The ids that the options keep. */
function kept(logits: Float32Array, options: SamplingOptions) {
  const probabilities = new Sampler(options).probabilities(logits);
  return [...probabilities.keys()].filter((id) => probabilities[id]! > 0);
}

describe('filters', () => {
  test('top-k keeps the k largest logits and all equal to the k-th', () => {
    const logits = Float32Array.of(1, 3, 2, 2, -0, 2, 0, -5);
    expect(kept(logits, { topK: 1 })).toEqual([1]);
    for (const topK of [2, 3, 4]) expect(kept(logits, { topK })).toEqual([1, 2, 3, 5]);
    expect(kept(logits, { topK: 5 })).toEqual([0, 1, 2, 3, 5]);
    for (const topK of [6, 7]) expect(kept(logits, { topK })).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const topK of [8, 9]) expect(kept(logits, { topK })).toHaveLength(8);
  });

  test('top-k finds the largest logits in any block of a long row', () => {
    const logits = new Float32Array(5000).fill(-1);
    const largest = [4, 255, 256, 2047, 2048, 4999];
    largest.forEach((id, i) => {
      logits[id] = i;
    });
    for (let topK = 1; topK <= 6; topK++)
      expect(kept(logits, { topK })).toEqual(largest.slice(-topK));
    expect(kept(logits, { topK: 7 })).toHaveLength(5000);
  });

  test('top-p keeps the token that crosses p and nothing after it', () => {
    const logits = logitsOf(1, 4, 2, 8, 1);
    expect(kept(logits, { topP: 0.4 })).toEqual([3]);
    expect(kept(logits, { topP: 0.6 })).toEqual([1, 3]);
    expect(kept(logits, { topP: 0.8 })).toEqual([1, 2, 3]);
    expect(kept(logits, { topP: 0.999 })).toEqual([0, 1, 2, 3, 4]);
  });

  test('top-p keeps as many equal logits as it needs, from the highest id', () => {
    const equal = new Float32Array(10).fill(-3.7);
    expect(kept(equal, { topP: 0.05 })).toEqual([9]);
    expect(kept(equal, { topP: 0.1 })).toEqual([9]);
    expect(kept(equal, { topP: 0.5 })).toEqual([5, 6, 7, 8, 9]);
    expect(kept(equal, { topP: 0.51 })).toEqual([4, 5, 6, 7, 8, 9]);
    expect(kept(equal, { topP: 0.9 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(kept(logitsOf(2, 4, 2, 2), { topP: 0.55 })).toEqual([1, 3]);
    expect(kept(Float32Array.of(0, -0, 0, -0), { topP: 0.5 })).toEqual([2, 3]);
  });

  test('min-p keeps tokens with at least p times the highest probability', () => {
    const logits = Float32Array.of(0, -1, -2, -3, -1);
    expect(kept(logits, { minP: 0.36 })).toEqual([0, 1, 4]);
    expect(kept(logits, { minP: 0.37 })).toEqual([0]);
    expect(kept(logits, { minP: 0.37, temperature: 2 })).toEqual([0, 1, 4]);
    expect(kept(new Float32Array(3), { minP: 0.99 })).toEqual([0, 1, 2]);
    expect(kept(logits, { minP: expOfNonPositive(-2) })).toEqual([0, 1, 2, 4]);
  });

  test('top-p applies to what top-k keeps, and min-p comes last', () => {
    // Of 8 + 4 + 2, 8 is 0.57; of all 16 it is 0.5.
    const logits = logitsOf(1, 4, 2, 8, 1);
    expect(kept(logits, { topP: 0.55 })).toEqual([1, 3]);
    expect(kept(logits, { topP: 0.55, topK: 3 })).toEqual([3]);
    // If min-p came first, 8 would be two thirds and sufficient.
    expect(kept(logits, { topP: 0.6, minP: 0.4 })).toEqual([1, 3]);
  });

  test('probabilities of the kept tokens are renormalised', () => {
    const probabilities = new Sampler({ topK: 2 }).probabilities(logitsOf(1, 3, 2, 6, 1));
    [0, 1 / 3, 0, 2 / 3, 0].forEach((p, i) => {
      expect(probabilities[i]).toBeCloseTo(p, 6);
    });
  });
});

test('sample() assigns a boundary to the token above it', () => {
  const at = (options: SamplingOptions, uniform: number) =>
    new Sampler(options).sample(new Float32Array(512), { uniform }).token;
  expect(at({}, 0.5)).toBe(256);
  expect(at({}, 0.5 - 2 ** -53)).toBe(255);
  expect(at({}, 1 - 2 ** -53)).toBe(511);
  expect(at({ minP: 0.5 }, 0.25)).toBe(128);
  expect(at({ minP: 0.5 }, 0.25 - 2 ** -54)).toBe(127);
  expect(at({ minP: 0.5 }, 1 - 2 ** -53)).toBe(511);
});

describe('logprobs', () => {
  test('logprob is of the unfiltered distribution, samplingLogprob of the filtered', () => {
    const logits = logitsOf(1, 2, 1, 4);
    const sampled = new Sampler({ topK: 2 }).sample(logits, { uniform: 0.1 });
    expect(sampled.token).toBe(1);
    expect(sampled.logprob).toBeCloseTo(Math.log(2 / 8), 6);
    expect(sampled.samplingLogprob).toBeCloseTo(Math.log(2 / 6), 6);
  });

  test('logprob is of logits / temperature', () => {
    const sampled = new Sampler({ temperature: 0.5 }).sample(logitsOf(1, 2, 3), { uniform: 0 });
    expect(sampled.logprob).toBeCloseTo(Math.log(1 / 14), 6);
  });

  test('samplingLogprob equals logprob without filters', () => {
    const logits = Float32Array.from({ length: 700 }, (_, i) => Math.sin(i));
    const none = { temperature: 0.7, topK: 700, topP: 1, minP: 0, repetitionPenalty: 1 };
    for (const uniform of [0, 0.3, 0.9999]) {
      const { logprob, samplingLogprob } = new Sampler(none).sample(logits, { uniform });
      expect(samplingLogprob).toBe(logprob);
    }
  });

  test('the repetition penalty changes samplingLogprob but not logprob', () => {
    // Logits 2 ln 2, −ln 2, 0 become ln 2, −2 ln 2, 0: weights 4, ½, 1 become 2, ¼, 1.
    const logits = Float32Array.of(2 * Math.LN2, -Math.LN2, 0);
    const sampler = new Sampler({ repetitionPenalty: 2 });
    const seen = Int32Array.of(0, 1, 0, 99);
    const sampled = sampler.sample(logits, { uniform: 0.61, seen });
    expect(sampled.token).toBe(0);
    expect(sampled.logprob).toBeCloseTo(Math.log(4 / 5.5), 6);
    expect(sampled.samplingLogprob).toBeCloseTo(Math.log(2 / 3.25), 6);
    expect(sampler.sample(logits, { uniform: 0.62, seen }).token).toBe(1);
    expect(sampler.sample(logits, { uniform: 0.7, seen }).token).toBe(2);
    expect(sampler.sample(logits, { uniform: 0.61, seen: [] }).token).toBe(0);
  });
});

describe('greedy', () => {
  test('temperature 0 selects the first largest logit for any uniform and filters', () => {
    const logits = Float32Array.of(0, Math.log(3), Math.log(3), 0);
    const sampler = new Sampler({ temperature: 0, topK: 1, topP: 0.1 });
    for (const uniform of [0, 0.5, 0.999]) {
      const sampled = sampler.sample(logits, { uniform });
      expect(sampled).toEqual({
        token: 1,
        logprob: expect.closeTo(Math.log(3 / 8), 6),
        samplingLogprob: 0,
      });
    }
    expect([...sampler.probabilities(logits)]).toEqual([0, 1, 0, 0]);
  });

  test('temperature 0 selects the largest penalised logit', () => {
    const sampler = new Sampler({ temperature: 0, repetitionPenalty: 1.5 });
    const { token, logprob } = sampler.sample(Float32Array.of(3, 2.5, -4), {
      uniform: 0,
      seen: [0],
    });
    expect(token).toBe(1);
    expect(logprob).toBeCloseTo(-0.5 - Math.log(1 + Math.exp(-0.5) + Math.exp(-7)), 6);
  });

  test('a temperature near 0 approaches greedy sampling', () => {
    const stream = randomStream(8, 'cold');
    const logits = Float32Array.from({ length: 300 }, () => stream.normal());
    const best = new Sampler({ temperature: 0 }).sample(logits, { uniform: 0 }).token;
    let last = 0;
    for (const temperature of [10, 1, 0.3, 0.1, 0.01]) {
      const probability = new Sampler({ temperature }).probabilities(logits)[best]!;
      expect(probability).toBeGreaterThan(last);
      last = probability;
    }
    expect(last).toBeGreaterThan(0.999);
    for (const temperature of [1e-4, 1e-30, Number.MIN_VALUE]) {
      for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
        const sampled = new Sampler({ temperature }).sample(logits, { uniform });
        expect(sampled).toEqual({
          token: best,
          logprob: expect.closeTo(0, 12),
          samplingLogprob: expect.closeTo(0, 12),
        });
      }
    }
  });
});

const requested = { uniform: 0.5, topLogprobs: 2 };

describe('sample() with topLogprobs', () => {
  test('returns the most probable tokens with their logprobs, and the entropy', () => {
    const { alternatives, entropy } = new Sampler().sample(logitsOf(1, 4, 1, 2), requested);
    expect([...alternatives!.ids]).toEqual([1, 3]);
    expect(alternatives!.logprobs[0]).toBeCloseTo(Math.log(1 / 2), 6);
    expect(alternatives!.logprobs[1]).toBeCloseTo(Math.log(1 / 4), 6);
    // ½·ln 2 + ¼·ln 4 + 2·⅛·ln 8 = 1.75 ln 2
    expect(entropy).toBeCloseTo(1.75 * Math.LN2, 6);
  });

  test('applies the temperature, but neither filters nor the repetition penalty', () => {
    // At temperature ½ weights 1, 2, 0 become 1, 4, 0.
    const options = { temperature: 0.5, topK: 1, repetitionPenalty: 3 };
    const sampled = new Sampler(options).sample(logitsOf(1, 2, 0), { ...requested, seen: [1] });
    expect([...sampled.alternatives!.ids]).toEqual([1, 0]);
    expect(sampled.alternatives!.logprobs[0]).toBeCloseTo(Math.log(4 / 5), 6);
    expect(sampled.entropy).toBeCloseTo(0.8 * Math.log(5 / 4) + 0.2 * Math.log(5), 6);
  });

  test('lists the greedy token first', () => {
    const { token, alternatives } = new Sampler({ temperature: 0 }).sample(
      Float32Array.of(0, 2, 2, 1),
      requested,
    );
    expect([...alternatives!.ids]).toEqual([token, 2]);
  });

  test('returns only the entropy for 0, and neither by default', () => {
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
