import { afterAll, describe, expect, test } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { mean, standardDeviation } from '../columns/index.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { resolveTrainingConfig } from '../config/training-config.ts';
import { tensor } from '../engine/runtime/index.ts';
import { PolicyModel } from '../models/policy-model.ts';
import { ValueModel } from '../models/value-model.ts';
import type { RewardSample } from '../reward-kl/reward-source.ts';
import type { EvaluationProgress, EvaluationPrompt, Scorer } from './evaluator.ts';
import { Evaluator, type EvaluatorConfig, type EvaluatorOptions } from './evaluator.ts';

const base = tinyModel();
const tokenizer = tinyTokenizer();
const config: EvaluatorConfig = {
  ...resolvePPOConfig({ maxNewTokens: 12, temperature: 0.8, klCoef: 0.3, seed: 3 }),
  ...resolveTrainingConfig({ evalBestOf: 3, logSamples: 2 }),
};
const prompts: EvaluationPrompt[] = ['a b', 'c', 'The capital of', 'd e f'].map((text, i) => ({
  text,
  tokens: tokenizer.encode(text),
  row: { wanted: i },
}));
const models: PolicyModel[] = [];

afterAll(async () => {
  for (const model of models) await model.dispose();
  await base.dispose();
});

function policyOf(adapter?: LoraAdapter): PolicyModel {
  const model = new PolicyModel({ base, tokenizer, adapter });
  models.push(model);
  return model;
}

/** An adapter in which every number of B is this; 0 changes nothing. */
function adapterOf(b: number): LoraAdapter {
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules(), 1);
  setAdapter(adapter, b);
  return adapter;
}

function setAdapter(adapter: LoraAdapter, b: number): void {
  for (const [name, { data }] of adapter.weights) if (name.includes('lora_B')) data.fill(b);
}

/** Rewards even ids, a little more for later prompts. */
const scoreOf = ({ tokens, row }: Pick<RewardSample, 'tokens' | 'row'>) =>
  tokens.filter((id) => id % 2 === 0).length / tokens.length + 0.1 * Number(row?.wanted);

const scorer: Scorer = async (samples) => {
  const scores = Float32Array.from(samples, scoreOf);
  return { scores, bySource: new Map([['even', scores]]) };
};

const changed = policyOf(adapterOf(0.1));
const reference = policyOf();

const evaluatorOf = (options: Partial<EvaluatorOptions> = {}) =>
  new Evaluator({ config, policy: changed, reference, scorer, ...options });

/** The scorer, and the samples of each of its calls. */
function recordingScorer() {
  const calls: (readonly RewardSample[])[] = [];
  const record: Scorer = (samples, context) => {
    calls.push(samples);
    return scorer(samples, context);
  };
  return { calls, scorer: record };
}

describe('evaluate()', () => {
  test('a policy equal to the reference has a win rate of ½ and no KL', async () => {
    const evaluator = evaluatorOf({ policy: policyOf(adapterOf(0)) });
    const { performance, samples } = await evaluator.evaluate(prompts, { step: 0 });
    expect(performance.winRate).toBe(0.5);
    expect(Math.abs(performance.kl)).toBeLessThan(1e-5);
    expect(performance.entropy).toBeGreaterThan(0.1);
    for (const { response, refResponse, score, refScore, kl } of samples) {
      expect([response, score]).toEqual([refResponse, refScore]);
      expect(Math.abs(kl)).toBeLessThan(1e-5);
    }
  });

  test('a policy with a changed adapter has a KL above 0', async () => {
    const { performance } = await evaluatorOf().evaluate(prompts, { step: 0 });
    expect(performance.kl).toBeGreaterThan(0.1);
  });

  test('its numbers equal a direct computation', async () => {
    const recorded = recordingScorer();
    const evaluator = evaluatorOf({ scorer: recorded.scorer });
    const { performance } = await evaluator.evaluate(prompts, { step: 0 });
    const ids = prompts.map(({ tokens }) => tokens);
    const options = { maxNewTokens: 12, temperature: 0.8, seed: 3, streamKey: ['evaluation'] };
    const sampled = await changed.generate(ids, { ...options, numReturnSequences: 3 });
    const greedy = await changed.generate(ids, { maxNewTokens: 12, temperature: 0 });
    const rowsOf = (texts: typeof sampled) =>
      Float32Array.from(texts, (text) =>
        scoreOf({ tokens: text.tokens, row: prompts[text.prompt]!.row }),
      );
    const scores = rowsOf(sampled);
    expect(performance.reward).toBe(mean(scores));
    expect(performance.rewardStd).toBe(standardDeviation(scores));
    expect(performance.responses).toBe(12);
    expect(performance.greedyReward).toBe(mean(rowsOf(greedy)));
    const best = prompts.map((_, i) => Math.max(...scores.subarray(3 * i, 3 * i + 3)));
    expect(performance.bestOfN).toBe(mean(best));
    expect(performance.bestOfN).toBeGreaterThan(performance.reward);
    expect(performance.length).toBe(mean(sampled.map(({ tokens }) => tokens.length)));
    const { logprobs } = await reference.logprobs(
      sampled.map(({ promptTokens }) => promptTokens),
      sampled.map(({ tokens }) => tokens),
      { temperature: 0.8 },
    );
    const sum = (values: Float32Array) => values.reduce((total, x) => total + x, 0);
    const kls = sampled.map((text, i) => sum(text.logprobs) - sum(logprobs[i]!));
    expect(performance.kl).toBeCloseTo(mean(kls), 4);
    expect(recorded.calls.at(-1)!.map(({ response }) => response)).toEqual(
      sampled.map(({ text }) => text),
    );
  });

  test('repeated evaluations return identical reports, at any step', async () => {
    const evaluator = evaluatorOf();
    const first = await evaluator.measure(prompts, { step: 1 });
    const second = await evaluator.measure(prompts, { step: 2 });
    expect(second.performance).toEqual(first.performance);
    expect(second.samples).toEqual(first.samples.map((sample) => ({ ...sample, step: 2 })));
  });

  test('shows greedy responses of policy and reference to the first logSamples prompts', async () => {
    const { samples } = await evaluatorOf().evaluate(prompts, { step: 7 });
    expect(samples.map(({ promptIdx, prompt, step }) => [promptIdx, prompt, step])).toEqual([
      [0, 'a b', 7],
      [1, 'c', 7],
    ]);
    const greedy = { maxNewTokens: 12, temperature: 0 };
    const own = await changed.generate(['a b', 'c'], greedy);
    const refs = await reference.generate(['a b', 'c'], greedy);
    expect(samples.map(({ response }) => response)).toEqual(own.map(({ text }) => text));
    expect(samples.map(({ refResponse }) => refResponse)).toEqual(refs.map(({ text }) => text));
    expect(samples.map(({ length }) => length)).toEqual(own.map(({ tokens }) => tokens.length));
    expect(samples.map(({ response }) => response)).not.toEqual(refs.map(({ text }) => text));
  });

  test('runs the reference once, and the policy with its current weights', async () => {
    const adapter = adapterOf(0);
    const recorded = recordingScorer();
    const evaluator = evaluatorOf({ policy: policyOf(adapter), scorer: recorded.scorer });
    const before = await evaluator.evaluate(prompts, { step: 0 });
    setAdapter(adapter, 0.1);
    const after = await evaluator.evaluate(prompts, { step: 1 });
    expect(recorded.calls.map(({ length }) => length)).toEqual([4, 4, 12, 4, 12]);
    expect(after.performance.kl).toBeGreaterThan(before.performance.kl + 0.1);
    expect(after.samples.map(({ refResponse }) => refResponse)).toEqual(
      before.samples.map(({ refResponse }) => refResponse),
    );
  });

  test('passes the prompt, its row and its position to reward sources', async () => {
    const recorded = recordingScorer();
    await evaluatorOf({ scorer: recorded.scorer }).evaluate(prompts, { step: 0 });
    for (const samples of recorded.calls) {
      const n = samples.length / prompts.length;
      for (const [i, sample] of samples.entries()) {
        const { text, tokens, row } = prompts[Math.floor(i / n)]!;
        expect(sample).toMatchObject({ prompt: text, promptTokens: tokens, row });
        expect([sample.promptIdx, sample.sample]).toEqual([Math.floor(i / n), i % n]);
        const stopped = tokenizer.eosIds.includes(sample.tokens.at(-1)!);
        expect(sample.finished).toBe(stopped);
      }
    }
  });

  test('measures how much of the variance of the returns a value model explains', async () => {
    const size = base.architecture.config.hidden_size;
    const constantHead = (weight: number) =>
      new ValueModel({ base, head: tensor(new Float32Array(size).fill(weight), [1, size]) });
    const measured = async (options: Partial<EvaluatorOptions>) =>
      (await evaluatorOf(options).measure(prompts, { step: 0 })).performance.explainedVariance;
    expect(await measured({})).toBeNaN();
    expect(await measured({ value: constantHead(0) })).toBeCloseTo(0, 6);
    expect(await measured({ value: constantHead(100) })).toBeLessThan(-1);
    const shapeScores = ({ scores }: { scores: Float32Array }) => ({
      scores: scores.map((score) => 1000 * score),
    });
    const shaped = await measured({ value: constantHead(100), shapeScores });
    expect(shaped).not.toBeCloseTo(await measured({ value: constantHead(100) }), 3);
  });

  test('the KL coefficient of the step counts in the returns', async () => {
    const size = base.architecture.config.hidden_size;
    const head = tensor(new Float32Array(size).fill(1), [1, size]);
    const evaluator = evaluatorOf({ value: new ValueModel({ base, head }) });
    const explained = async (klCoef?: number) =>
      (await evaluator.measure(prompts, { step: 0, klCoef })).performance.explainedVariance;
    expect(await explained(0.3)).toBe(await explained());
    expect(await explained(5)).not.toBe(await explained());
  });
});

describe('convergence', () => {
  test('records evaluate() but not measure()', async () => {
    const evaluator = evaluatorOf({ config: { ...config, plateauPatience: 1 } });
    await evaluator.measure(prompts, { step: 0 });
    expect(evaluator.convergence.state().best).toBeNull();
    const first = await evaluator.evaluate(prompts, { step: 1 });
    expect(first.convergence).toMatchObject({ performanceImproved: true, stop: undefined });
    const second = await evaluator.evaluate(prompts, { step: 2 });
    expect(second.convergence).toMatchObject({ performanceImproved: false, stop: 'converged' });
  });
});

describe('progress and errors', () => {
  test('progress counts every response up to the total, which is lower once the reference has responded', async () => {
    const evaluator = evaluatorOf();
    const totals: number[] = [];
    for (const step of [0, 1]) {
      const seen: EvaluationProgress[] = [];
      await evaluator.measure(prompts, { step, onProgress: (progress) => seen.push(progress) });
      const { done, total } = seen.at(-1)!;
      expect(done).toBe(total);
      expect(seen.every((progress, i) => progress.done > (seen[i - 1]?.done ?? 0))).toBe(true);
      totals.push(total);
    }
    // 4 of the reference, 4 greedy, 12 sampled, 12 + 2 measured
    expect(totals).toEqual([34, 30]);
  });

  // Responses 1–4 are the reference's, then 4 greedy and 12 sampled ones; the rest are measured.
  test.each([1, 5, 12, 32])('stops when its signal aborts after response %i', async (last) => {
    const controller = new AbortController();
    const { signal } = controller;
    let seen = 0;
    const onProgress = ({ done }: EvaluationProgress) => {
      seen = done;
      if (done === last) controller.abort(new Error('enough'));
    };
    const run = evaluatorOf().evaluate(prompts, { step: 0, signal, onProgress });
    await expect(run).rejects.toThrow('enough');
    expect(seen).toBe(last);
  });

  test('an aborted evaluation does not change the next one', async () => {
    const evaluator = evaluatorOf();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(evaluator.evaluate(prompts, { step: 0, signal })).rejects.toThrow('enough');
    expect(await evaluator.evaluate(prompts, { step: 0 })).toEqual(
      await evaluatorOf().evaluate(prompts, { step: 0 }),
    );
  });

  test('passes the signal to the scorer, and measures nothing after an abort', async () => {
    const controller = new AbortController();
    let seen = 0;
    const evaluator = evaluatorOf({
      scorer: (samples, { signal }) => {
        expect(signal).toBe(controller.signal);
        if (samples.length === 12) controller.abort(new Error('enough'));
        return scorer(samples, { signal });
      },
    });
    const run = evaluator.evaluate(prompts, {
      step: 0,
      signal: controller.signal,
      onProgress: ({ done }) => {
        seen = done;
      },
    });
    await expect(run).rejects.toThrow('enough');
    expect(seen).toBe(20);
    expect(evaluator.convergence.state().best).toBeNull();
  });

  test('ranks by rewards with the penalty for responses that do not finish', async () => {
    const recorded = recordingScorer();
    const evaluator = evaluatorOf({
      config: { ...config, missingEosPenalty: 2 },
      scorer: recorded.scorer,
    });
    const { performance, samples } = await evaluator.evaluate(prompts, { step: 0 });
    const [refs, greedy, sampled] = recorded.calls as [
      readonly RewardSample[],
      readonly RewardSample[],
      readonly RewardSample[],
    ];
    const penalised = (all: readonly RewardSample[]) =>
      all.map((sample) => Math.fround(scoreOf(sample)) - (sample.finished ? 0 : 2));
    const finished = sampled.filter((sample) => sample.finished).length;
    expect(finished).toBeGreaterThan(0);
    expect(finished).toBeLessThan(sampled.length);
    expect(performance.finishedRate).toBe(finished / sampled.length);
    expect(performance.reward).toBeCloseTo(mean(penalised(sampled)), 6);
    expect(performance.greedyReward).toBeCloseTo(mean(penalised(greedy)), 6);
    const [own, other] = [penalised(greedy), penalised(refs)];
    const wins = own.map((x, i) => (x === other[i] ? 0.5 : Number(x > other[i]!)));
    expect(performance.winRate).toBe(mean(wins));
    expect(evaluator.convergence.state().best!.reward).toBe(performance.reward);
    const raw = Float32Array.from(sampled, scoreOf);
    expect(performance.rewards).toEqual({
      even: { mean: mean(raw), std: standardDeviation(raw) },
    });
    expect(samples[0]!.score).toBe(Math.fround(scoreOf(greedy[0]!)));
  });

  test('throws if there are no prompts', async () => {
    await expect(evaluatorOf().evaluate([], { step: 0 })).rejects.toThrow(
      'Cannot evaluate: there must be at least one validation prompt, got 0',
    );
  });

  test('throws if scores are missing or not finite', async () => {
    const failing = (scores: Float32Array) =>
      evaluatorOf({ scorer: async () => ({ scores, bySource: new Map() }) }).evaluate(prompts, {
        step: 0,
      });
    await expect(failing(new Float32Array(3))).rejects.toThrow(
      'Cannot evaluate: the scorer must return 4 scores, one per response, got 3',
    );
    await expect(failing(Float32Array.of(1, 2, Number.NaN, 3))).rejects.toThrow(
      'Cannot evaluate: scores must be finite numbers, got NaN for response 2',
    );
  });
});
