import { afterAll, describe, expect, test } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { SFTModel } from '../models/sft-model.ts';
import type { GenerationOptions } from './generation-options.ts';
import { Generator } from './generator.ts';

const base = tinyModel();
const generator = new Generator({ base, tokenizer: tinyTokenizer(), batchSize: 3 });
const generate = (options: GenerationOptions) =>
  generator.generate(['a', 'b c d', 'c a'], {
    ...{ maxNewTokens: 12, seed: 5, numReturnSequences: 2, temperature: 0.7 },
    ...options,
  });

afterAll(async () => {
  await generator.dispose();
  await base.dispose();
});

describe('generate() with topLogprobs', () => {
  test('gives the same texts, and entropies of a whole forward pass', async () => {
    const [texts, plain] = [await generate({ topLogprobs: 3 }), await generate({})];
    const { entropies } = await new SFTModel({ base }).logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
      { temperature: 0.7 },
    );
    texts.forEach(({ entropies: own, alternatives, ...text }, i) => {
      expect(text).toEqual(plain[i]);
      expect(alternatives).toHaveLength(text.tokens.length);
      own!.forEach((entropy, t) => {
        expect(Math.abs(entropy - entropies[i]![t]!)).toBeLessThan(1e-4);
      });
    });
  });

  test('gives logprobs that agree with those of the tokens, the likeliest first', async () => {
    for (const { tokens, logprobs, alternatives } of await generate({ topLogprobs: 4 })) {
      for (const [t, { ids, logprobs: likely }] of alternatives!.entries()) {
        expect(ids).toHaveLength(4);
        expect([...likely]).toEqual([...likely].sort((a, b) => b - a));
        expect(likely[0]).toBeLessThanOrEqual(0);
        const place = ids.indexOf(tokens[t]!);
        if (place >= 0) expect(likely[place]).toBe(logprobs[t]);
        else expect(logprobs[t]).toBeLessThanOrEqual(likely[3]!);
      }
    }
  });

  test('gives them to the first texts alone where that is asked for', async () => {
    const texts = await generate({ topLogprobs: 1, topLogprobsTexts: 3 });
    expect(texts.map(({ entropies }) => entropies !== undefined)).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => i < 3),
    );
  });

  test.each([{ topLogprobs: -1 }, { topLogprobs: 0.5 }, { topLogprobsTexts: -1 }])(
    'refuses %o',
    async (options) => {
      const [[name, value]] = Object.entries(options) as [[string, number]];
      await expect(generate(options)).rejects.toThrow(
        `Cannot generate: ${name} must be a whole number ≥ 0, got ${value}`,
      );
    },
  );
});
