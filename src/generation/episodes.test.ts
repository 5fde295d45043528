import { afterAll, describe, expect, test, vi } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { concatFloats } from '../columns/index.ts';
import { SFTModel } from '../models/sft-model.ts';
import { Decoder } from './decoder.ts';
import type { FinishedTurn, GenerationOptions } from './generation-options.ts';
import { Generator } from './generator.ts';
import { KvCache } from './kv-cache.ts';

const base = tinyModel();
const tokenizer = tinyTokenizer();
const prompts = ['a', 'b c d e', 'c a b', 'd', 'e e e e e e e e', 'a b'];
const sampling = { maxNewTokens: 30, seed: 5, stopTokenIds: [...tokenizer.encode('c d e f g')] };

afterAll(() => base.dispose());

type Answer = (turn: FinishedTurn) => string | undefined | Promise<string | undefined>;

function generate(
  answer: Answer | undefined,
  { batchSize = 6, ...options }: GenerationOptions & { batchSize?: number } = {},
) {
  const generator = new Generator({ base, tokenizer, batchSize });
  const environment = answer && {
    respond: async (turn: FinishedTurn) => {
      const text = await answer(turn);
      return text === undefined ? undefined : { text, tokens: tokenizer.encode(text) };
    },
  };
  return generator.generate(prompts, { ...sampling, environment, ...options });
}

/** Two answers of different lengths, which depend on the prompt. */
const answerTwice: Answer = ({ prompt, index }) =>
  index < 2 ? ['hx ix', 'jx kx lx mx nx'][(prompt + index) % 2] : undefined;

describe('episodes', () => {
  test('have the logprobs of an uncached pass over all turns', async () => {
    const texts = await generate(answerTwice, { temperature: 0.7 });
    expect(texts.some(({ turns }) => turns!.length === 3)).toBe(true);
    const { logprobs } = await new SFTModel({ base }).logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
      { temperature: 0.7, observations: texts.map(({ observations }) => observations) },
    );
    const expected = concatFloats(logprobs);
    const actual = concatFloats(texts.map((text) => text.logprobs));
    expectClose(actual, { expected, within: 1e-4, label: 'log π' });
  });

  test('record turns and observations where they are', async () => {
    for (const { turns = [], observations = [], tokens, text, prompt } of await generate(
      answerTwice,
    )) {
      expect(turns.at(-1)).toMatchObject({ end: tokens.length, text });
      expect(observations.map(({ at }) => at)).toEqual(turns.slice(0, -1).map(({ end }) => end));
      for (const [i, observation] of observations.entries()) {
        expect(observation.text).toBe(answerTwice({ prompt, index: i } as FinishedTurn));
        expect(observation.tokens).toEqual(tokenizer.encode(observation.text));
      }
    }
  });

  test('of one turn equal plain texts bit for bit', async () => {
    const plain = await generate(undefined);
    const episodes = await generate(() => undefined);
    expect(episodes.map(({ turns, observations, ...text }) => text)).toEqual(plain);
    expect(episodes.map(({ observations }) => observations)).toEqual(plain.map(() => []));
  });

  test('are the same for any batch size and order of answers', async () => {
    const together = await generate(answerTwice);
    for (const batchSize of [1, 2, 4]) {
      const delayed: Answer = async (turn) => {
        await new Promise((resolve) => setTimeout(resolve, (7 * turn.prompt + batchSize) % 5));
        return answerTwice(turn);
      };
      const texts = await generate(delayed, { batchSize });
      expect(texts.map(({ tokens }) => tokens)).toEqual(together.map(({ tokens }) => tokens));
    }
    const reversed = await generate(async (turn) => {
      await new Promise((resolve) => setTimeout(resolve, 10 - turn.prompt));
      return answerTwice(turn);
    });
    expect(reversed).toEqual(together);
  });

  test('run every token once: later turns use the cache', async () => {
    const prefill = vi.spyOn(Decoder.prototype, 'prefill');
    await generate(answerTwice);
    const runs = prefill.mock.calls.flatMap(([batch]) => batch);
    prefill.mockRestore();
    expect(runs.map(({ length }) => length)).toEqual(
      prompts.map((prompt) => tokenizer.encode(prompt).length),
    );
  });

  test('run again if their keys and values do not fit into memory', async () => {
    const save = vi.spyOn(KvCache.prototype, 'save').mockReturnValue(undefined);
    const texts = await generate(answerTwice);
    save.mockRestore();
    const expected = await generate(answerTwice);
    expect(texts.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens));
    for (const [i, { logprobs }] of texts.entries()) {
      expectClose(logprobs, { expected: expected[i]!.logprobs, within: 1e-4, label: 'log π' });
    }
  });

  test('free their slot while the environment works', async () => {
    const arrived: number[] = [];
    let release = () => {};
    const lastArrived = new Promise<void>((resolve) => {
      release = resolve;
    });
    const texts = await generate(
      async ({ prompt }) => {
        arrived.push(prompt);
        if (arrived.length === prompts.length) release();
        await lastArrived;
        return undefined;
      },
      { batchSize: 1 },
    );
    expect(arrived).toEqual([0, 1, 2, 3, 4, 5]);
    expect(texts.length).toBe(6);
  });

  test('end if an answer leaves no room in the context, or at maxNewTokens', async () => {
    const long = Array.from({ length: 50 }, () => 'hx').join(' ');
    for (const { observations, turns, finishReason } of await generate(() => long)) {
      expect(observations!.length).toBeLessThanOrEqual(1);
      if (turns!.at(-1)!.finishReason === 'stop') expect(finishReason).toBe('length');
    }
    for (const { tokens, finishReason } of await generate(() => 'hx')) {
      expect(tokens.length).toBeLessThanOrEqual(30);
      expect(finishReason).toBe('length');
    }
  });

  test('stop with the error of the environment', async () => {
    await expect(
      generate(() => {
        throw new Error('no network');
      }),
    ).rejects.toThrow('no network');
  });
});
