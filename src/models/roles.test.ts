import { afterAll, describe, expect, test } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeAdapter } from '../base-setup/index.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { tensor } from '../engine/runtime/index.ts';
import { PolicyModel } from './policy-model.ts';
import { RewardModel } from './reward-model.ts';
import { loadRewardModel, saveRewardModel } from './reward-model-files.ts';
import { randomHead, zeroHead } from './scalar-model.ts';
import { SFTModel } from './sft-model.ts';
import type { TokenBatch } from './token-batch.ts';
import { ValueModel } from './value-model.ts';

const base = tinyModel();
const tokenizer = tinyTokenizer();
const { hidden_size: size, vocab_size: vocabulary } = base.architecture.config;
const prompts = [[3, 4, 5], [6], [7, 8, 9, 10, 11]];
const responses = [[12, 13], [14, 15, 16, 17], [18]];
const whole = prompts.map((prompt, i) => [...prompt, ...responses[i]!]);

afterAll(() => base.dispose());

/** An adapter with a non-zero delta. */
function trainedAdapter(seed: number): LoraAdapter {
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules(), seed);
  for (const [name, { data }] of adapter.weights) if (name.includes('lora_B')) data.fill(0.1);
  return adapter;
}

const close = (actual: ArrayLike<number>, expected: ArrayLike<number>, within = 1e-5) => {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < actual.length; i++)
    expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(within);
};

describe('SFTModel', () => {
  const model = new SFTModel({ base });

  test('forward() returns the same logits for a sequence in a batch as alone', async () => {
    const { logits } = await model.forward(whole);
    for (const [i, ids] of whole.entries()) {
      const alone = await model.forward([ids]);
      expect(logits[i]!.shape).toEqual([ids.length, vocabulary]);
      close(logits[i]!.data, alone.logits[0]!.data);
    }
  });

  test('forward() ignores masked tokens on either side', async () => {
    const plain = await model.forward([
      [3, 4, 5],
      [6, 7],
    ]);
    const padded = await model.forward(
      [
        [3, 4, 5, 1, 1],
        [1, 1, 1, 6, 7],
      ],
      [
        [1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1],
      ],
    );
    for (const i of [0, 1]) close(padded.logits[i]!.data, plain.logits[i]!.data, 1e-6);
  });

  test('logprobs() are log softmax of the logits before each response token', async () => {
    const { logits } = await model.forward(whole);
    const { logprobs, entropies } = await model.logprobs(prompts, responses, { temperature: 0.5 });
    for (const [i, response] of responses.entries()) {
      for (const [t, token] of response.entries()) {
        const row = logits[i]!.data.subarray((prompts[i]!.length - 1 + t) * vocabulary).subarray(
          0,
          vocabulary,
        );
        const weights = Array.from(row, (logit) => Math.exp(logit / 0.5));
        const total = weights.reduce((a, b) => a + b);
        expect(logprobs[i]![t]).toBeCloseTo(Math.log(weights[token]! / total), 4);
        const entropy = -weights.reduce((sum, w) => sum + (w / total) * Math.log(w / total), 0);
        expect(entropies[i]![t]).toBeCloseTo(entropy, 4);
      }
    }
  });

  test('a batch too large to run together is split and joined again', async () => {
    const many = Array.from({ length: 30 }, (_, i) =>
      Array.from({ length: 60 }, (_, t) => 3 + ((i * 7 + t * 3) % 50)),
    );
    const answers = many.map((_, i) => [3 + i, 4 + i]);
    const together = await model.logprobs(many, answers);
    for (const i of [0, 17, 29]) {
      const alone = await model.logprobs([many[i]!], [answers[i]!]);
      close(together.logprobs[i]!, alone.logprobs[0]!);
    }
  });
});

describe('PolicyModel', () => {
  test('equals the reference with a fresh adapter, but not with a trained one', async () => {
    const reference = await new SFTModel({ base }).logprobs(prompts, responses);
    const fresh = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
    const policyLogprobs = (adapter: LoraAdapter) =>
      new PolicyModel({ base, tokenizer, adapter }).logprobs(prompts, responses);
    close((await policyLogprobs(fresh)).logprobs[0]!, reference.logprobs[0]!, 1e-6);
    const trained = await policyLogprobs(trainedAdapter(1));
    expect(Math.abs(trained.logprobs[0]![0]! - reference.logprobs[0]![0]!)).toBeGreaterThan(0.01);
  });

  test('generate() continues prompts', async () => {
    const policy = new PolicyModel({ base, tokenizer });
    const [text] = await policy.generate(['a b'], { maxNewTokens: 5 });
    expect(text!.tokens.length).toBeGreaterThan(0);
    await policy.dispose();
  });
});

describe('ValueModel', () => {
  const head = tensor(
    Float32Array.from({ length: size }, (_, i) => Math.sin(i)),
    [1, size],
  );
  const model = new ValueModel({ base, adapter: trainedAdapter(2), head });

  test('values() are those of the states before each response token', async () => {
    const everywhere = await model.forward(whole);
    const values = await model.values(prompts, responses);
    for (const [i, response] of responses.entries()) {
      const first = prompts[i]!.length - 1;
      close(values[i]!, everywhere[i]!.subarray(first, first + response.length));
    }
  });

  test('a value does not depend on later tokens', async () => {
    const [longer] = await model.forward([[3, 4, 5, 6, 7]]);
    const [shorter] = await model.forward([[3, 4, 5]]);
    close(longer!.subarray(0, 3), shorter!);
  });

  test('a zero head values every state at 0', async () => {
    const fresh = new ValueModel({ base, head: zeroHead(size) });
    expect(await fresh.forward([[3, 4, 5]])).toEqual([new Float32Array(3)]);
  });
});

describe('RewardModel', () => {
  const options = { base, tokenizer, adapter: trainedAdapter(3), head: randomHead(size) };
  const model = new RewardModel(options);

  test('scores the last real token', async () => {
    const scores = await model.forward(whole);
    const everywhere = await new ValueModel(options).forward(whole);
    close(
      scores,
      everywhere.map((values) => values.at(-1)!),
    );
    const padded = await model.forward([[...whole[0]!, 1, 1]], [[...whole[0]!.map(() => 1), 0, 0]]);
    close(padded, scores.subarray(0, 1));
  });

  test('can be extended with a length penalty and a bonus', async () => {
    class CustomRewardModel extends RewardModel {
      override async forward(inputIds: TokenBatch, attentionMask?: TokenBatch) {
        const rewards = await super.forward(inputIds, attentionMask);
        return rewards.map((reward, i) => {
          const text = this.tokenizer.decode(Array.from(inputIds[i]!));
          return reward - 0.1 * text.split(/\s+/).length + (text.includes('b') ? 0.2 : 0);
        });
      }
    }
    const custom = await new CustomRewardModel(options).forward([
      [2, 3],
      [5, 6, 7],
    ]);
    const plain = await model.forward([
      [2, 3],
      [5, 6, 7],
    ]);
    close(custom, [plain[0]! - 0.2 + 0.2, plain[1]! - 0.3]);
  });

  test('is rejected if it was saved with two labels', async () => {
    const folder = makeTempFolder();
    const head = tensor(new Float32Array(2 * size), [2, size]);
    const extraTensors = new Map([['score.weight', head]]);
    await writeAdapter(folder, options.adapter, { taskType: 'SEQ_CLS', extraTensors });
    await expect(loadRewardModel(folder, { base, tokenizer })).rejects.toThrow(
      `Cannot load the reward model ${folder}: its head must have one label, got 2; train it with num_labels=1`,
    );
  });

  test('is rejected if its head belongs to another base', async () => {
    const folder = makeTempFolder();
    const extraTensors = new Map([['score.weight', randomHead(size + 1)]]);
    await writeAdapter(folder, options.adapter, { taskType: 'SEQ_CLS', extraTensors });
    await expect(loadRewardModel(folder, { base, tokenizer })).rejects.toThrow(
      `its head must have ${size} weights like the base's hidden states, got ${size + 1}`,
    );
  });

  test('keeps the bias of a head through saving, as part of its normalisation', async () => {
    const folder = makeTempFolder();
    const bias = tensor(Float32Array.of(2), [1]);
    const biased = new RewardModel({ ...options, bias, normalization: { mean: 1, std: 0.5 } });
    await saveRewardModel(folder, biased, { baseModelNameOrPath: 'base' });
    const loaded = await loadRewardModel(folder, { base, tokenizer });
    close(await loaded.forward(whole), await biased.forward(whole));
    const plain = await model.forward(whole);
    close(
      await biased.forward(whole),
      plain.map((score) => (score + 1) / 0.5),
    );
  });

  test('its head starts with standard deviation 1/√(d + 1)', () => {
    const { data } = randomHead(10_000);
    const variance = data.reduce((sum, x) => sum + x * x, 0) / data.length;
    expect(variance * 10_001).toBeCloseTo(1, 1);
  });
});

describe('sequences that share their first tokens run these once, and', () => {
  const shared = [3, 9, 4, 8, 5, 7, 6, 10, 11, 12];
  const sequences = [
    [...shared, 13, 14, 15, 16, 17],
    [...shared, 18, 19, 20],
    shared,
    [...shared.slice(0, 8), 21],
    [22, ...shared],
  ];
  const options = { base, tokenizer, adapter: trainedAdapter(4), head: randomHead(size, 1) };
  const policy = new PolicyModel(options);
  const value = new ValueModel(options);
  const reward = new RewardModel(options);
  afterAll(() => policy.dispose());

  test('have the values of each sequence alone', async () => {
    const together = await value.forward(sequences);
    expect(together.map(({ length }) => length)).toEqual([15, 13, 10, 9, 11]);
    for (const [i, sequence] of sequences.entries()) {
      close(together[i]!, (await value.forward([sequence]))[0]!);
    }
  });

  test('have the reward of each sequence alone', async () => {
    const together = await reward.forward(sequences);
    for (const [i, sequence] of sequences.entries()) {
      close([together[i]!], await reward.forward([sequence]));
    }
  });

  test('have the logits of each sequence alone', async () => {
    const { logits } = await policy.forward(sequences);
    for (const [i, sequence] of sequences.entries()) {
      const alone = (await policy.forward([sequence])).logits[0]!;
      expect(logits[i]!.shape).toEqual([sequence.length, vocabulary]);
      close(logits[i]!.data, alone.data);
    }
  });

  test('have the logprobs and the values of each response alone', async () => {
    // The last prompt differs from the others only at its end; the responses share a prefix too.
    const sharedPrompts = [shared, shared, [...shared, 13], shared.slice(0, 9)];
    const sharedResponses = [
      [13, 14, 15],
      [13, 14],
      [14, 16],
      [12, 13, 14],
    ];
    const { logprobs } = await policy.logprobs(sharedPrompts, sharedResponses);
    const values = await value.values(sharedPrompts, sharedResponses);
    for (const [i, prompt] of sharedPrompts.entries()) {
      const response = sharedResponses[i]!;
      close(logprobs[i]!, (await policy.logprobs([prompt], [response])).logprobs[0]!);
      close(values[i]!, (await value.values([prompt], [response]))[0]!);
    }
  });
});

describe('token batches', () => {
  const model = new SFTModel({ base });

  test('rejects a mask of a different length', async () => {
    await expect(model.forward([[3, 4]], [[1]])).rejects.toThrow(
      'Cannot run the model: attention mask 0 must have 2 entries, got 1',
    );
  });

  test('rejects a sequence without real tokens', async () => {
    await expect(model.forward([[3], [4]], [[1], [0]])).rejects.toThrow(
      'Cannot run the model: sequence 1 must have at least one token, got none',
    );
  });
});
