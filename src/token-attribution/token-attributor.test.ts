import { afterAll, describe, expect, test } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { GenerationOptions } from '../generation/generation-options.ts';
import { PolicyModel, type PolicyOptions } from '../models/policy-model.ts';
import { SFTModel } from '../models/sft-model.ts';
import { TokenAttributor, type TokenAttributorOptions } from './token-attributor.ts';

const base = tinyModel();
const tokenizer = tinyTokenizer();
const reference = new SFTModel({ base });
const prompts = ['a b', 'The capital of France is', 'q'];

afterAll(() => base.dispose());

/** An adapter that changes the policy. */
function trainedAdapter(): LoraAdapter {
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules(), 1);
  for (const [name, { data }] of adapter.weights) if (name.includes('lora_B')) data.fill(0.1);
  return adapter;
}

async function rollOut(
  options: Partial<PolicyOptions> & GenerationOptions = {},
  attribution: Partial<TokenAttributorOptions> = {},
) {
  const policy = new PolicyModel({ base, tokenizer, ...options });
  const sampling = { maxNewTokens: 8, numReturnSequences: 2, seed: 3, ...options };
  const texts = await policy.generate(prompts, sampling);
  const { temperature = 1 } = options;
  const attributor = new TokenAttributor({ reference, policy, temperature, ...attribution });
  const rollout = await attributor.attribute(texts, prompts);
  await policy.dispose();
  return { policy, texts, attributor, rollout };
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, within = 1e-5) {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < actual.length; i++) {
    expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(within);
  }
}

describe('attribute()', () => {
  test('keeps the sampled tokens and records their origin', async () => {
    const { texts, rollout } = await rollOut();
    expect(rollout.sequences.length).toBe(6);
    for (const [i, text] of texts.entries()) {
      const [start, end] = [rollout.offsets[i]!, rollout.offsets[i + 1]!];
      expect(rollout.tokens.slice(start, end)).toEqual(text.tokens);
      expect(rollout.logprobs.slice(start, end)).toEqual(text.logprobs);
      expect(rollout.sequences[i]).toEqual({
        promptIdx: Math.floor(i / 2),
        sample: i % 2,
        promptText: prompts[Math.floor(i / 2)],
        promptTokens: tokenizer.encode(prompts[Math.floor(i / 2)]!),
        text: text.text,
        pieces: text.pieces,
        finished: text.finishReason === 'stop',
      });
    }
    expect(rollout.offsets.at(-1)).toBe(rollout.tokens.length);
    expect(new Set(rollout.sequences.map(({ finished }) => finished)).size).toBe(2);
  });

  test.each([1, 0.7])(
    "recomputed logprobs equal the generator's at temperature %d",
    async (temperature) => {
      const adapter = trainedAdapter();
      const { texts, rollout } = await rollOut(
        { adapter, temperature },
        { recomputeLogprobs: true },
      );
      const generated = texts.flatMap(({ logprobs }) => [...logprobs]);
      expectClose(rollout.logprobs, generated);
      expect(rollout.entropies!.length).toBe(generated.length);
      expect(rollout.entropies!.every((h) => h > 0 && h < Math.log(60))).toBe(true);
    },
  );

  test.each([1, 0.7])(
    'the KL of an untrained policy is 0 at temperature %d',
    async (temperature) => {
      const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
      const { rollout } = await rollOut({ adapter, temperature });
      expectClose(rollout.kl, new Float32Array(rollout.tokens.length));
      expect(rollout.refLogprobs.every((logprob) => logprob < 0)).toBe(true);
    },
  );

  test('the KL of a trained policy is its difference from the reference', async () => {
    const adapter = trainedAdapter();
    const { texts, rollout } = await rollOut({ adapter });
    const { logprobs: expected } = await reference.logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
    );
    const ref = expected.flatMap((values) => [...values]);
    expectClose(rollout.refLogprobs, ref, 1e-6);
    expectClose(
      rollout.kl,
      [...rollout.logprobs].map((logprob, i) => logprob - ref[i]!),
      1e-6,
    );
    expect(Math.max(...rollout.kl.map(Math.abs))).toBeGreaterThan(0.1);
    const k2 = await rollOut({ adapter }, { klEstimator: 'k2' });
    expectClose(
      k2.rollout.kl,
      rollout.kl.map((d) => (d * d) / 2),
      1e-5,
    );
  });

  test('applies the same temperature to the reference', async () => {
    const { texts, rollout } = await rollOut({ temperature: 0.7 });
    const untempered = await new TokenAttributor({ reference, temperature: 1 }).attribute(
      texts,
      prompts,
    );
    expectClose(rollout.kl, new Float32Array(rollout.tokens.length));
    expect(Math.max(...untempered.kl.map(Math.abs))).toBeGreaterThan(0.1);
  });

  test('keeps sampling logprobs if sampling is filtered', async () => {
    expect((await rollOut()).rollout).not.toHaveProperty('samplingLogprobs');
    const { texts, rollout } = await rollOut({ topK: 3 });
    expect([...rollout.samplingLogprobs!]).toEqual(
      texts.flatMap(({ samplingLogprobs }) => [...samplingLogprobs]),
    );
    expect(rollout).not.toHaveProperty('entropies');
    expectClose(rollout.logprobs, rollout.refLogprobs);
  });

  test('recomputes logprobs of an int8 policy and keeps its own as sampling logprobs', async () => {
    const { texts, rollout } = await rollOut({ precision: 'int8' }, { recomputeLogprobs: true });
    expectClose(rollout.kl, new Float32Array(rollout.tokens.length));
    const sampled = texts.flatMap(({ logprobs }) => [...logprobs]);
    expect([...rollout.samplingLogprobs!]).toEqual(sampled);
    expect(
      Math.max(...sampled.map((value, i) => Math.abs(value - rollout.logprobs[i]!))),
    ).toBeGreaterThan(1e-4);
  });

  test('returns an empty rollout for no texts', async () => {
    const rollout = await new TokenAttributor({ reference }).attribute([], []);
    expect(rollout.sequences).toEqual([]);
    expect(rollout.offsets).toEqual(Int32Array.of(0));
    expect(rollout.kl.length).toBe(0);
  });

  test('rejects a text without its prompt', async () => {
    const { texts, attributor } = await rollOut();
    await expect(attributor.attribute(texts, ['a b'])).rejects.toThrow(
      'Cannot attribute tokens: prompts must include the prompt of every text, got 1 prompts and a text of prompt 1',
    );
  });
});

describe('extractPairs()', () => {
  test('the state of an action is the prompt and the text of the earlier tokens', async () => {
    const { texts, attributor, rollout } = await rollOut();
    const pairs = attributor.extractPairs(rollout);
    for (const [i, { promptTokens, tokens }] of texts.entries()) {
      for (const pair of pairs.ofSequence(i)) {
        const before = [...promptTokens, ...tokens.slice(0, pair.step)];
        expect(pair.stateText).toBe(tokenizer.decode(before, { skipSpecialTokens: true }));
        expect(pair.actionTokenId).toBe(tokens[pair.step]);
      }
    }
    expect(pairs.length).toBe(rollout.tokens.length);
  });
});

describe('computeKlDivergence()', () => {
  test('matches the worked example', () => {
    const kl = (klEstimator: 'k1' | 'k2' | 'k3') =>
      new TokenAttributor({ reference, klEstimator }).computeKlDivergence([-1, -2], [-1.5, -1]);
    expect(kl('k1')).toEqual(Float32Array.of(0.5, -1));
    expect(kl('k2')).toEqual(Float32Array.of(0.125, 0.5));
    // e^(−½) − 1 + ½ and e − 2
    expectClose(kl('k3'), [0.1065307, 0.7182818], 1e-6);
  });

  test('rejects logprobs of different lengths', () => {
    const attributor = new TokenAttributor({ reference });
    expect(() => attributor.computeKlDivergence([-1, -2], [-1])).toThrow(
      'Cannot compute KL divergence: the reference must have as many logprobs as the policy (2), got 1',
    );
  });
});

describe('TokenAttributor', () => {
  test('rejects recomputeLogprobs without a policy', () => {
    expect(() => new TokenAttributor({ reference, recomputeLogprobs: true })).toThrow(
      'Cannot attribute tokens: recomputeLogprobs needs the model that generated the texts, got none; pass it as policy',
    );
  });

  test.each([0, -1, Infinity])('rejects a temperature of %d', (temperature) => {
    expect(() => new TokenAttributor({ reference, temperature })).toThrow(
      `Cannot attribute tokens: temperature must be finite and above 0, got ${temperature}`,
    );
  });
});
