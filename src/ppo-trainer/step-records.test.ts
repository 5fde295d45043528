import { describe, expect, it } from 'vitest';
import { makeCalculatorModel } from '../../bench/tools/calculator-model.ts';
import { countX, trainTiny } from '../../test/helpers/ppo-run.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import type { Environment } from '../environments/index.ts';
import type { TrainEvent } from '../loop/index.ts';
import type { TokenRecord } from '../loop/records.ts';
import { PPOTrainer, type TrainOptions } from './ppo-trainer.ts';

const short: PPOConfigOptions = {
  maxNewTokens: 5,
  batchSize: 2,
  samplesPerPrompt: 2,
  learningRate: 1e-2,
  valueLearningRate: 1e-2,
  loraR: 4,
  klCoef: 0.2,
};

/** The step events of a run of two steps, whose values are no longer 0 in the second. */
async function stepsOf(config: PPOConfigOptions, options: TrainOptions = {}) {
  const { events } = await trainTiny({ ...short, ...config }, { maxSteps: 2, ...options });
  return events.flatMap((event) => (event.type === 'step' ? [event] : []));
}

/** Computes A_t and G_t only from the numbers of a line. */
function followArithmetic({ rewards, values, gamma, lambda, whitening, ids }: TokenRecord) {
  const A: number[] = [];
  for (let t = rewards.length - 1; t >= 0; t--) {
    const delta = rewards[t]! + gamma * (values[t + 1] ?? 0) - values[t]!;
    A[t] = delta + gamma * lambda * (A[t + 1] ?? 0);
  }
  const G = A.map((a, t) => a + values[t]!);
  const { mean, std } = whitening ?? { mean: 0, std: 1 };
  return { advantages: A.slice(0, ids.length).map((a) => (a - mean) / std), returns: G };
}

function expectNear(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((x, i) => {
    expect(Math.abs(x - expected[i]!)).toBeLessThan(1e-4);
  });
}

describe('tokens of a step event', () => {
  it.each<PPOConfigOptions>([
    {},
    { whitenAdvantages: false, rewardPlacement: 'every' },
    { whitenRewards: true, rewardPlacement: 'after-final' },
    { rolloutPrecision: 'int8', temperature: 0.7, topP: 0.9 },
  ])('have advantages and returns that can be computed from the same line: %o', async (config) => {
    for (const { tokens } of await stepsOf(config)) {
      expect(tokens).toHaveLength(4);
      for (const record of tokens) {
        const { advantages, returns } = followArithmetic(record);
        expectNear(record.advantages, advantages);
        expectNear(record.returns, returns);
        expect(record.whitening === null).toBe(config.whitenAdvantages === false);
        expect(record.rewardWhitening === null).toBe(config.whitenRewards !== true);
        expect(record.samplingLogprobs?.length).toBe(config.topP && record.ids.length);
      }
    }
  });

  it('belong to the samples, whose score and KL they add up to', async () => {
    const [, { samples, tokens, metrics }] = (await stepsOf({})) as [unknown, Step];
    expect(tokens.map(({ values }) => values.every((value) => value !== 0))).not.toContain(false);
    tokens.forEach((record, i) => {
      const { step, promptIdx, sample, prompt, response, length, kl, score } = samples[i]!;
      expect(record).toMatchObject({ step, promptIdx, sample, prompt, klCoef: 0.2 });
      expect(record.klCoef).toBe(metrics['objective/kl_coef']);
      expect(record.texts.join('')).toBe(response);
      expect(record.ids).toHaveLength(length);
      expectNear([sumOf(record.kl)], [kl]);
      record.kl.forEach((own, t) => {
        expectNear([own], [record.logprobs[t]! - record.refLogprobs[t]!]);
      });
      expectNear([sumOf(record.rewards)], [score - 0.2 * kl]);
    });
  });

  it('have samples with the score of each reward source, without its weight', async () => {
    const rewards = {
      x: countX,
      length: {
        source: ({ response }: { readonly response: string }) => response.length,
        weight: 0.5,
      },
    };
    const { events } = await trainTiny(short, { maxSteps: 1 }, { rewards });
    const step = events.find((event) => event.type === 'step')!;
    expect(step.samples).toHaveLength(4);
    for (const { response, score, sourceScores } of step.samples) {
      const own = { x: countX({ response }), length: response.length };
      expectNear([sourceScores!.x!, sourceScores!.length!], [own.x, own.length]);
      expectNear([score], [own.x + 0.5 * own.length]);
    }
  });

  it('list the chosen token first among the alternatives if it is greedy', async () => {
    for (const { tokens } of await stepsOf({ topK: 1 }, { topLogprobs: 3 })) {
      for (const { ids, texts, logprobs, alternatives, entropies } of tokens) {
        expect(entropies).toHaveLength(ids.length);
        alternatives.forEach((likely, t) => {
          expect([likely.ids[0], likely.logprobs[0]]).toEqual([ids[t], logprobs[t]]);
          if (texts[t] !== '') expect(likely.texts[0]).toBe(texts[t]);
          expect(likely.ids).toHaveLength(3);
          expect(likely.logprobs).toEqual(likely.logprobs.toSorted((a, b) => b - a));
          expect(sumOf(likely.logprobs.map(Math.exp))).toBeLessThanOrEqual(1);
        });
      }
    }
  });

  it('are of the first logTokens samples, with topLogprobs alternatives', async () => {
    const count = async (options: TrainOptions) => {
      const [step] = await stepsOf({}, { maxSteps: 1, ...options });
      return step!.tokens.map(({ alternatives }) => alternatives[0]!.ids.length);
    };
    expect(await count({ logTokens: 3, topLogprobs: 2 })).toEqual([2, 2, 2]);
    expect(await count({ logTokens: 3, logSamples: 1, topLogprobs: 0 })).toEqual([0]);
    expect(await count({ logTokens: 0 })).toEqual([]);
  });

  it('have the ratios of the last optimiser step', async () => {
    const [first] = await stepsOf({ ppoEpochs: 1 });
    expectNear(ratiosOf(first!), new Array<number>(ratiosOf(first!).length).fill(1));
    // The mean over two optimiser steps, of which the first has ratio 1.
    const [second] = await stepsOf({ ppoEpochs: 2 });
    const ratios = ratiosOf(second!);
    expect(sumOf(ratios) / ratios.length).toBeCloseTo(2 * second!.metrics['val/ratio']! - 1, 4);
    expect(ratios.filter((ratio) => Math.abs(ratio - 1) > 1e-3)).not.toEqual([]);
  });

  it('have no ratios if the update stopped before the loss saw them', async () => {
    // Four responses, one in each minibatch; the second one is past targetKl.
    const [step] = await stepsOf({ miniBatchSize: 1, targetKl: 1e-9 });
    const seen = step!.tokens.map(({ ratios }) => ratios.every((ratio) => ratio !== null));
    expect(seen.filter(Boolean)).toHaveLength(2);
    const unseen = step!.tokens.filter((_, i) => !seen[i]);
    for (const { ids, ratios } of unseen) expect(ratios).toEqual(ids.map(() => null));
  });
});

type Step = Awaited<ReturnType<typeof stepsOf>>[number];

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, x) => sum + x, 0);
const ratiosOf = ({ tokens }: Step) => tokens.flatMap(({ ratios }) => ratios as number[]);

describe('samples of a step event with an environment', () => {
  it('have the turns of the conversation, and tokens have the texts of the environment', async () => {
    const environment: Environment = {
      answer: async ({ turn }) =>
        turn === 0
          ? {
              reward: 0.5,
              calls: [{ tool: 'a', input: { b: 1 }, output: 'c', seconds: 0.25 }],
              messages: [
                { role: 'tool', name: 'a', content: 'c' },
                { role: 'user', content: 'and then' },
              ],
            }
          : undefined,
    };
    const model = makeCalculatorModel(3);
    const trainer = new PPOTrainer(
      { ...short, maxNewTokens: 12, stop: ['1', '2', '3', '4', '5', '6', 'a', 'e'] },
      { model, environment },
    );
    const steps: (TrainEvent & { type: 'step' })[] = [];
    await trainer.train(['12*34', '5*6'], {
      maxSteps: 1,
      onEvent: (event) => {
        if (event.type === 'step') steps.push(event);
      },
    });
    const [{ samples, tokens }] = steps as [TrainEvent & { type: 'step' }];
    const both = samples.findIndex(({ turns }) => turns!.length === 2);
    expect(both).toBeGreaterThanOrEqual(0);
    expect(samples[both]!.turns).toEqual([
      {
        text: expect.any(String),
        reward: 0.5,
        calls: [{ tool: 'a', input: { b: 1 }, output: 'c', seconds: 0.25 }],
        answers: [{ role: 'user', text: 'and then' }],
      },
      { text: samples[both]!.response, calls: [], answers: [] },
    ]);
    const [observed] = tokens[both]!.observations!;
    expect(observed!.text).toContain('and then');
    const before = tokens[both]!.texts.slice(0, observed!.at).join('');
    // The string that ended the turn is a token, but not part of its text.
    expect(before.slice(0, -1)).toBe(samples[both]!.turns![0]!.text);
    await trainer.dispose();
    await model.base.dispose();
  });
});
