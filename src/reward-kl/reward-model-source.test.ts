import { afterAll, describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { rewardSample } from '../../test/helpers/reward-samples.ts';
import { RewardModel } from '../models/reward-model.ts';
import { randomHead } from '../models/scalar-model.ts';
import type { TokenBatch } from '../models/token-batch.ts';
import { RewardModelSource } from './reward-model-source.ts';

const base = tinyModel();
const { hidden_size: size } = base.architecture.config;
const options = { base, tokenizer: tinyTokenizer(), head: randomHead(size) };
const { signal } = new AbortController();
const samples = [
  rewardSample(),
  rewardSample({ promptTokens: Int32Array.of(7), tokens: Int32Array.of(8, 9) }),
];

afterAll(() => base.dispose());

class WordPenalty extends RewardModel {
  override async forward(inputIds: TokenBatch, attentionMask?: TokenBatch) {
    const rewards = await super.forward(inputIds, attentionMask);
    return rewards.map((reward, i) => {
      const text = this.tokenizer.decode(Array.from(inputIds[i]!));
      return reward - text.split(/\s+/).length;
    });
  }
}

describe('RewardModelSource', () => {
  test('returns the score at the end of prompt and response', async () => {
    const model = new RewardModel(options);
    const source = new RewardModelSource(model);
    const expected = await model.forward([
      [2, 3, 4, 5],
      [7, 8, 9],
    ]);
    const scores = (await source.score(samples, { signal })) as number[];
    expectClose(scores, { expected, within: 1e-6, label: 'scores' });
    expect(scores[0]).not.toBeCloseTo(scores[1]!, 3);
    expect(source.name).toBe('RewardModel');
  });

  describe('a response that a stop string ended', () => {
    const { tokenizer } = options;
    const promptTokens = tokenizer.encode('a b');
    const seen: number[][] = [];
    const model = {
      tokenizer,
      forward: async (inputIds: TokenBatch) => {
        seen.push(...inputIds.map((ids) => [...Array.from(ids)].slice(promptTokens.length)));
        return new Float32Array(inputIds.length);
      },
    };
    const [eos] = tokenizer.eosIds;

    test.each([
      ['is scored without the stop string, ended by EOS', 'c d e f', ' c d', ['c', 'd']],
      ['is scored without the end of a token', 'c dx e', ' c d', ['c', 'd']],
      ['may be empty', 'e f', '', []],
    ])('%s', async (_, generated, response, words) => {
      seen.length = 0;
      const sample = {
        ...rewardSample({ promptTokens, tokens: tokenizer.encode(generated) }),
        ...{ response, finished: true },
      };
      await new RewardModelSource(model).score([sample], { signal });
      const expected = words.length === 0 ? [] : [...tokenizer.encode(words.join(' '))];
      expect(seen).toEqual([[...expected, eos]]);
    });

    test.each([
      ['a stop token', [...tokenizer.encode('c d'), eos!], true],
      ['the length limit', [...tokenizer.encode('c d')], false],
    ])('unlike one that ended by %s, whose tokens all count', async (_, ids, finished) => {
      seen.length = 0;
      const sample = {
        ...rewardSample({ promptTokens, tokens: Int32Array.from(ids) }),
        ...{ response: ' c d', finished },
      };
      await new RewardModelSource(model).score([sample], { signal });
      expect(seen).toEqual([ids]);
    });
  });

  test('uses the forward() of a subclass', async () => {
    const [plain, custom] = [new RewardModel(options), new WordPenalty(options)];
    const source = new RewardModelSource(custom);
    expect(source.name).toBe('WordPenalty');
    const scores = (await source.score(samples, { signal })) as number[];
    const unpenalised = await new RewardModelSource(plain).score(samples, { signal });
    const words = [4, 3];
    const expected = unpenalised.map((score, i) => (score as number) - words[i]!);
    expectClose(scores, { expected, within: 1e-5, label: 'scores' });
  });

  test('keeps the order over groups, reports each sample, and stops at an abort', async () => {
    const controller = new AbortController();
    const groups: number[] = [];
    const model = {
      forward: async (inputIds: TokenBatch) => {
        groups.push(inputIds.length);
        return Float32Array.from(inputIds, ({ length }) => length);
      },
    };
    const long = [600, 500, 400].map((length) =>
      rewardSample({ tokens: new Int32Array(length).fill(length) }),
    );
    const source = new RewardModelSource(model, { name: 'lengths' });
    const done: number[] = [];
    const context = { signal: controller.signal, onScored: (i: number) => void done.push(i) };
    expect(await source.score(long, context)).toEqual([602, 502, 402]);
    expect(groups).toEqual([1, 2]);
    expect(done).toEqual([0, 1, 2]);
    controller.abort(new Error('stop'));
    await expect(source.score(long, context)).rejects.toThrow('stop');
    expect(groups.length).toBe(2);
  });

  test('names a model whose forward() returns too few scores', async () => {
    const source = new RewardModelSource(
      { forward: async () => Float32Array.of(1) },
      { name: 'broken' },
    );
    await expect(source.score(samples, { signal })).rejects.toThrow(
      'Cannot use the scores of "broken": there must be 2, got 1',
    );
  });
});
