import { afterAll, describe, expect, test, vi } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { SFTModel } from '../models/sft-model.ts';
import { Decoder } from './decoder.ts';
import type { GenerationOptions } from './generation-options.ts';
import { Generator, type GeneratorOptions } from './generator.ts';

const base = tinyModel();
const tokenizer = tinyTokenizer();
const prompts = ['a', 'b c d e', 'c a b', 'd', 'e e e e e e e e', 'a b'];
const sampling = { maxNewTokens: 24, seed: 5 };

afterAll(() => base.dispose());

/** Generates with a new generator. */
async function generate(
  options: Partial<GeneratorOptions> = {},
  ...[texts, generation]: Partial<Parameters<Generator['generate']>>
) {
  const generator = new Generator({ base, tokenizer, ...options });
  try {
    return await generator.generate(texts ?? prompts, { ...sampling, ...generation });
  } finally {
    await generator.dispose();
  }
}

describe('generate()', () => {
  test('generates the same texts for any batch size', async () => {
    const together = await generate({ batchSize: 6 });
    for (const batchSize of [1, 2, 3]) {
      const texts = await generate({ batchSize });
      expect(texts.map(({ tokens }) => [...tokens])).toEqual(
        together.map(({ tokens }) => [...tokens]),
      );
    }
    expect(new Set(together.map(({ text }) => text)).size).toBe(prompts.length);
  });

  test('returns texts in the order of prompts and samples', async () => {
    const texts = await generate({ batchSize: 4 }, prompts.slice(0, 3), { numReturnSequences: 2 });
    expect(texts.map(({ prompt, sample }) => [prompt, sample])).toEqual(
      [0, 0, 1, 1, 2, 2].map((prompt, i) => [prompt, i % 2]),
    );
  });

  test('samples of one prompt differ, and equal those in a batch of one', async () => {
    const options = { numReturnSequences: 5 };
    const together = await generate({ batchSize: 3 }, ['a b'], options);
    const alone = await generate({ batchSize: 1 }, ['a b'], options);
    expect(together.map(({ text }) => text)).toEqual(alone.map(({ text }) => text));
    expect(new Set(together.map(({ text }) => text)).size).toBe(5);
  });

  test('does not run a prompt again while one of its samples is being generated', async () => {
    const prefill = vi.spyOn(Decoder.prototype, 'prefill');
    const stopTokenIds = [...tokenizer.encode('c d e f g h i j k l')];
    const options = { numReturnSequences: 12, stopTokenIds };
    const together = await generate({ batchSize: 4 }, ['a b', 'c'], options);
    const runs = prefill.mock.calls.flatMap(([promptTokens]) => promptTokens).length;
    prefill.mockRestore();
    expect(runs).toBeLessThan(6);
    const alone = await generate({ batchSize: 1 }, ['a b', 'c'], options);
    expect(together.map(({ text }) => text)).toEqual(alone.map(({ text }) => text));
  });

  test('another seed or stream key generates other texts', async () => {
    const texts = async (generation: object) =>
      (await generate({}, ['a b'], generation)).map(({ text }) => text);
    const first = await texts({});
    expect(await texts({})).toEqual(first);
    expect(await texts({ seed: 6 })).not.toEqual(first);
    expect(await texts({ streamKey: ['step', 1] })).not.toEqual(first);
  });

  test('logprobs equal those of a whole forward pass at the temperature', async () => {
    const adapter = LoraAdapter.create({ r: 4, lora_alpha: 8 }, base.modules(), 1);
    for (const [name, { data }] of adapter.weights) if (name.includes('lora_B')) data.fill(0.05);
    const texts = await generate({ adapter }, prompts, { temperature: 0.7 });
    const { logprobs } = await new SFTModel({ base, adapter }).logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
      { temperature: 0.7 },
    );
    for (const [i, text] of texts.entries()) {
      for (const [t, logprob] of text.logprobs.entries()) {
        expect(Math.abs(logprob - logprobs[i]![t]!)).toBeLessThan(1e-4);
      }
    }
  });

  test("filters change the sampling logprob, not the policy's", async () => {
    const [plain] = await generate({}, ['a b']);
    expect(plain!.samplingLogprobs).toEqual(plain!.logprobs);
    const [filtered] = await generate({}, ['a b'], { topK: 2 });
    for (const [t, logprob] of filtered!.logprobs.entries()) {
      expect(filtered!.samplingLogprobs[t]).toBeGreaterThan(logprob);
    }
  });

  test('ends at a stop token, which is one of the tokens but not in the text', async () => {
    const stopTokenIds = [...tokenizer.encode('c d e f g h i j k l')];
    const texts = await generate({}, prompts, { stopTokenIds, maxNewTokens: 90 });
    for (const { tokens, text, finishReason, promptTokens } of texts) {
      expect(finishReason).toBe('stop');
      const last = tokens.findIndex((token) => stopTokenIds.includes(token));
      expect(last).toBe(tokens.length - 1);
      const before = tokens.subarray(0, last);
      const options = { skipSpecialTokens: true, after: promptTokens };
      expect(text).toBe(tokenizer.decode(before, options));
    }
  });

  test('ends at a stop string and removes it', async () => {
    const [whole] = await generate({}, ['a b'], { maxNewTokens: 40 });
    const stop = whole!.text.slice(9, 12);
    const [stopped] = await generate({}, ['a b'], { maxNewTokens: 40, stopStrings: [stop] });
    expect(stopped!.text).toBe(whole!.text.slice(0, whole!.text.indexOf(stop)));
    expect(stopped!.finishReason).toBe('stop');
    expect(stopped!.tokens.length).toBeLessThan(whole!.tokens.length);
  });

  test('ends at the end of the context', async () => {
    const context = base.architecture.config.max_position_embeddings;
    const [text] = await generate({}, ['a b'], { maxNewTokens: 10_000, stopTokenIds: [] });
    expect(text!.finishReason).toBe('length');
    expect(text!.promptTokens.length + text!.tokens.length).toBe(context);
  });

  test('a change of the adapter affects the next call', async () => {
    const adapter = LoraAdapter.create({ r: 4, lora_alpha: 8 }, base.modules(), 1);
    const generator = new Generator({ base, tokenizer, adapter });
    const text = async () => (await generator.generate(['a b'], sampling))[0]!.text;
    const before = await text();
    expect(before).toBe((await generate({}, ['a b']))[0]!.text);
    for (const [name, { data }] of adapter.weights) if (name.includes('lora_B')) data.fill(0.3);
    expect(await text()).not.toBe(before);
    await generator.dispose();
  });

  test('at temperature 0 selects the most probable token at every step', async () => {
    const [text] = await generate({}, ['a b'], { temperature: 0 });
    const ids = [...text!.promptTokens, ...text!.tokens];
    const { logits } = await new SFTModel({ base }).forward([ids]);
    const { data, shape } = logits[0]!;
    for (const [t, token] of text!.tokens.entries()) {
      const row = data.subarray(
        (text!.promptTokens.length - 1 + t) * shape[1]!,
        (text!.promptTokens.length + t) * shape[1]!,
      );
      expect(row.indexOf(Math.max(...row))).toBe(token);
    }
  });

  test('a repetition penalty reduces repeated tokens', async () => {
    const repeats = async (repetitionPenalty: number) => {
      const texts = await generate({}, prompts, { repetitionPenalty, maxNewTokens: 30 });
      return texts.reduce((sum, { tokens }) => sum + tokens.length - new Set(tokens).size, 0);
    };
    expect(await repeats(5)).toBeLessThan((await repeats(1)) / 2);
  });
});

describe('stream()', () => {
  test('yields the tokens and pieces of the texts', async () => {
    const generator = new Generator({ base, tokenizer, batchSize: 2 });
    const texts = await generator.generate(prompts, sampling);
    const streamed = prompts.map(() => ({ tokens: [] as number[], text: '' }));
    for await (const { prompt, token, text } of generator.stream(prompts, sampling)) {
      streamed[prompt]!.tokens.push(token);
      streamed[prompt]!.text += text;
    }
    expect(streamed).toEqual(texts.map(({ tokens, text }) => ({ tokens: [...tokens], text })));
    await generator.dispose();
  });

  test('stops when its signal is aborted', async () => {
    const generator = new Generator({ base, tokenizer });
    const controller = new AbortController();
    let count = 0;
    const run = async () => {
      for await (const _ of generator.stream(['a b'], { ...sampling, signal: controller.signal })) {
        if (++count === 3) controller.abort();
      }
    };
    await expect(run()).rejects.toThrow('aborted');
    expect(count).toBe(3);
    await generator.dispose();
  });
});

describe('validation', () => {
  test('rejects an empty prompt', async () => {
    await expect(generate({}, ['a', ''])).rejects.toThrow(
      'Cannot generate: prompt 1 must have at least one token, got none',
    );
  });

  test('rejects a prompt longer than the context', async () => {
    const context = base.architecture.config.max_position_embeddings;
    await expect(generate({}, [new Int32Array(context)])).rejects.toThrow(
      `Cannot generate: prompt 0 must be shorter than the model's context of ${context} tokens, got ${context}; shorten it or choose a model with a longer context`,
    );
  });

  test.each([
    [{ maxNewTokens: 0 }, 'Cannot generate: maxNewTokens must be a whole number ≥ 1, got 0'],
    [
      { numReturnSequences: 1.5 },
      'Cannot generate: numReturnSequences must be a whole number ≥ 1, got 1.5',
    ],
    [{ stopStrings: [''] }, 'Cannot generate: stopStrings must not be empty, got ""'],
  ])('rejects %o', async (options, message) => {
    await expect(generate({}, ['a'], options)).rejects.toThrow(message);
  });
});

const generateTop = (options: GenerationOptions) =>
  generate({ batchSize: 3 }, ['a', 'b c d', 'c a'], {
    ...{ maxNewTokens: 12, numReturnSequences: 2, temperature: 0.7 },
    ...options,
  });

describe('generate() with topLogprobs', () => {
  test('generates the same texts, with the entropies of a whole forward pass', async () => {
    const [texts, plain] = [await generateTop({ topLogprobs: 3 }), await generateTop({})];
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

  test('returns logprobs consistent with those of the tokens, largest first', async () => {
    for (const { tokens, logprobs, alternatives } of await generateTop({ topLogprobs: 4 })) {
      for (const [t, { ids, logprobs: likely }] of alternatives!.entries()) {
        expect(ids).toHaveLength(4);
        expect([...likely]).toEqual([...likely].sort((a, b) => b - a));
        expect(likely[0]).toBeLessThanOrEqual(0);
        const index = ids.indexOf(tokens[t]!);
        if (index >= 0) expect(likely[index]).toBe(logprobs[t]);
        else expect(logprobs[t]).toBeLessThanOrEqual(likely[3]!);
      }
    }
  });

  test('records them for only the first texts with topLogprobsTexts', async () => {
    const texts = await generateTop({ topLogprobs: 1, topLogprobsTexts: 3 });
    expect(texts.map(({ entropies }) => entropies !== undefined)).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => i < 3),
    );
  });

  test.each([{ topLogprobs: -1 }, { topLogprobs: 0.5 }, { topLogprobsTexts: -1 }])(
    'rejects %o',
    async (options) => {
      const [[name, value]] = Object.entries(options) as [[string, number]];
      await expect(generateTop(options)).rejects.toThrow(
        `Cannot generate: ${name} must be a whole number ≥ 0, got ${value}`,
      );
    },
  );
});
