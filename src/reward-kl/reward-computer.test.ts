import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { rewardSample, samplesOf } from '../../test/helpers/reward-samples.ts';
import { readTrlGolden, trlCases } from '../../test/helpers/trl-golden.ts';
import { offsetsOf } from '../columns/index.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { RewardComputer } from './reward-computer.ts';
import type { RewardFunction } from './reward-source.ts';
import { type Rewards, toWeightedSources } from './to-weighted-sources.ts';

const computer = (rewards: Rewards, config: PPOConfigOptions = {}, rewardTimeout?: number) =>
  new RewardComputer({
    config: resolvePPOConfig(config),
    sources: toWeightedSources(rewards),
    rewardTimeout,
  });

const length: RewardFunction = ({ response }) => response.length;

/** Two responses, with two tokens and one; the second has no stop. */
const samples = samplesOf('ab', 'c').map((sample, i) => ({ ...sample, finished: i === 0 }));
const rollout = { kl: Float32Array.of(1, 2, 3), offsets: Int32Array.of(0, 2, 3) };

const numbers = (values: Float32Array) => Array.from(values, (x) => Number(x.toFixed(5)));

describe('score()', () => {
  test('returns the weighted sum of the sources and the scores of each', async () => {
    const { scores, tokenScores, bySource } = await computer({
      length,
      ones: { source: ({ tokens }) => Array.from(tokens, () => 1), weight: 10 },
    }).score(samples);
    expect([...scores]).toEqual([22, 11]);
    expect([...tokenScores!]).toEqual([10, 10, 10]);
    expect([...bySource.get('length')!]).toEqual([2, 1]);
    expect([...bySource.get('ones')!]).toEqual([2, 1]);
  });

  test('changes no state', async () => {
    const rewards = computer(
      { length },
      { scoreNormalization: 'running', klController: 'adaptive' },
    );
    const before = rewards.state();
    await rewards.score(samples);
    rewards.shapeScores({ scores: Float32Array.of(5, 6) }, samples);
    expect(rewards.state()).toEqual(before);
  });

  test('if one source fails, the signals of the others fire', async () => {
    let seen: AbortSignal | undefined;
    const rewards = computer({
      patient: (_, { signal }) => {
        seen = signal;
        return new Promise<never>(() => {});
      },
      failing: () => {
        throw new Error('no credit');
      },
    });
    await expect(rewards.score(samples)).rejects.toThrow(
      'Cannot score sample 0 with "failing": no credit',
    );
    expect(seen?.aborted).toBe(true);
  });

  test('throws if a source hangs longer than rewardTimeout', async () => {
    const rewards = computer({ hung: () => new Promise<never>(() => {}) }, {}, 0.03);
    await expect(rewards.score(samples)).rejects.toThrow(
      'Cannot score with "hung": it must return a score within 0.03 s, got none for 2 samples',
    );
  });

  test("an abort by the caller rejects with the caller's reason", async () => {
    const controller = new AbortController();
    const rewards = computer({ hung: () => new Promise<never>(() => {}) });
    const scored = rewards.score(samples, { signal: controller.signal });
    const reason = new Error('Ctrl-C');
    controller.abort(reason);
    await expect(scored).rejects.toBe(reason);
  });
});

describe('computeRewards()', () => {
  test('matches the worked example', async () => {
    const rewards = computer({ length, half: { source: () => 4, weight: 0.5 } });
    const result = await rewards.computeRewards(rollout, { samples });
    // R = [2, 1] + ½·4, β = 0.1, on the last tokens.
    expect(numbers(result.rewards)).toEqual([-0.1, 3.8, 2.7]);
    expect([...result.stepOffsets]).toEqual([0, 2, 3]);
    expect([...result.scores]).toEqual([4, 3]);
    const { metrics } = result;
    expect(metrics).toEqual({
      'objective/kl': 3,
      'objective/kl_coef': 0.1,
      'objective/scores': 3.5,
      'objective/non_score_reward': expect.closeTo(-0.3, 12),
      'objective/rlhf_reward': expect.closeTo(3.2, 12),
      'rewards/length/mean': 1.5,
      'rewards/length/std': 0.5,
      'rewards/half/mean': 4,
      'rewards/half/std': 0,
    });
  });

  test('applies the missing-stop penalty before normalisation', async () => {
    const config = { missingEosPenalty: 3, scoreNormalization: 'batch', klCoef: 0 } as const;
    const plain = computer({ length }, { ...config, scoreNormalization: 'none' });
    const result = await plain.computeRewards(rollout, { samples });
    expect(numbers(result.rewards)).toEqual([0, 2, -2]);
    expect(result.metrics['objective/scores']).toBe(0);
    expect([...result.scores]).toEqual([2, 1]);
    const normalized = await computer({ length }, config).computeRewards(rollout, { samples });
    expect(numbers(normalized.rewards)).toEqual([0, 1, -1]);
    const clipped = computer({ length }, { ...config, scoreClip: 0.5 });
    const { rewards, metrics } = await clipped.computeRewards(rollout, { samples });
    expect(numbers(rewards)).toEqual([0, 0.5, -0.5]);
    expect(metrics['objective/scores']).toBe(0);
    expect([...clipped.shapeScores(result, samples).scores]).toEqual([0.5, -0.5]);
  });

  test('scales token scores with the total and puts the rest on the last token', async () => {
    // Totals are 2 and 4 (no stop is missing): μ = 3, σ = 1, so −1 and 1.
    const tokens: RewardFunction = ({ promptIdx }) => (promptIdx === 0 ? [3, -1] : [4]);
    const stopped = samples.map((sample) => ({ ...sample, finished: true }));
    const rewards = computer({ tokens }, { scoreNormalization: 'batch', klCoef: 0 });
    const result = await rewards.computeRewards(rollout, { samples: stopped });
    expect(numbers(result.rewards)).toEqual([3, -4, 1]);
    const plain = computer({ tokens }, { klCoef: 0 });
    const unscaled = await plain.computeRewards(rollout, { samples: stopped });
    expect(numbers(unscaled.rewards)).toEqual([3, -1, 4]);
  });

  test('an adaptive β changes after the rewards that used it', async () => {
    // KL is 3 on average, half of the target: error −0.5 is clipped to −0.2; n/horizon = 2/20.
    const config = { klController: 'adaptive', klTarget: 6, klHorizon: 20 } as const;
    const rewards = computer({ length }, config);
    expect(rewards.klCoef).toBe(0.1);
    await rewards.computeRewards(rollout, { samples });
    expect(rewards.klCoef).toBe(0.1);
    const { metrics } = await rewards.computeRewards(rollout, { samples });
    expect(metrics['objective/kl_coef']).toBeCloseTo(0.098, 12);
    expect(rewards.klCoef).toBe(metrics['objective/kl_coef']);
  });

  test('a KL penalty in the loss is not in rewards but in the objective metrics', async () => {
    const rewards = computer({ length }, { klPlacement: 'loss', klEstimator: 'k3' });
    const result = await rewards.computeRewards(rollout, { samples });
    expect([...result.rewards]).toEqual([0, 2, 1]);
    expect(result.metrics['objective/non_score_reward']).toBeCloseTo(-0.3, 12);
  });

  test('continues exactly from a state saved as JSON', async () => {
    const config = {
      klController: 'adaptive',
      klHorizon: 20,
      scoreNormalization: 'running',
      scoreClip: 3,
    } as const;
    const [first, second] = [computer({ length }, config), computer({ length }, config)];
    await first.computeRewards(rollout, { samples });
    second.restore(JSON.parse(JSON.stringify(first.state())));
    const others = samplesOf('abc', 'abcdef');
    const other = { kl: new Float32Array(9).fill(0.3), offsets: offsetsOf([3, 6]) };
    const expected = await first.computeRewards(other, { samples: others });
    expect(await second.computeRewards(other, { samples: others })).toEqual(expected);
    expect(second.state()).toEqual(first.state());
  });

  test('a failure changes no state', async () => {
    const rewards = computer(
      { broken: () => Number.NaN },
      { klController: 'adaptive', scoreNormalization: 'running' },
    );
    const before = rewards.state();
    await expect(rewards.computeRewards(rollout, { samples })).rejects.toThrow(
      'Cannot use the scores of "broken": the score of sample 0 must be a finite number, got NaN',
    );
    expect(rewards.state()).toEqual(before);
  });

  test.each(trlCases)("matches TRL's rewards and metrics: %s", async (name) => {
    const { hyperparameters, inputs, outputs, ...golden } = readTrlGolden(name);
    const { tokens, steps, offsets, stepOffsets } = golden;
    const rewards = computer(({ promptIdx }) => inputs.scores[promptIdx]!, {
      klCoef: hyperparameters.kl_coef,
      missingEosPenalty: hyperparameters.missing_eos_penalty ?? 0,
      rewardPlacement: 'after-final',
      maxNewTokens: inputs.responses[0]!.length,
    });
    const scored = inputs.responses.map((ids, promptIdx) => {
      const own = Int32Array.from(ids.slice(0, inputs.lengths[promptIdx]!));
      const finished = own.includes(hyperparameters.stop_token_id);
      return rewardSample({ promptIdx, tokens: own, finished });
    });
    const kl = tokens(outputs.kl);
    const result = await rewards.computeRewards({ kl, offsets }, { samples: scored });
    const expected = steps(outputs.rewards_before_whitening);
    expectClose(result.rewards, { expected, within: 1e-5, label: 'rewards' });
    expect(result.stepOffsets).toEqual(stepOffsets);
    const { scores: shaped } = rewards.shapeScores(result, scored);
    const penalised = outputs.scores_after_penalty;
    expectClose(shaped, { expected: penalised, within: 1e-5, label: 'scores' });
    const logged = outputs as unknown as Readonly<Record<string, number>>;
    for (const metric of ['kl', 'scores', 'non_score_reward', 'rlhf_reward']) {
      expect(result.metrics[`objective/${metric}`]).toBeCloseTo(logged[`objective_${metric}`]!, 5);
    }
  });

  test('rejects samples whose number differs from the responses', async () => {
    const options = { samples: samplesOf('a') };
    await expect(computer({ length }).computeRewards(rollout, options)).rejects.toThrow(
      'Cannot compute rewards: there must be one sample per response (2), got 1',
    );
    const empty = { kl: new Float32Array(), offsets: Int32Array.of(0) };
    await expect(computer({ length }).computeRewards(empty, { samples: [] })).rejects.toThrow(
      'response (0), got 0',
    );
  });
});

describe('RewardComputer', () => {
  const config = resolvePPOConfig();
  const [source] = toWeightedSources({ length }).map((weighted) => weighted.source);

  test.each([
    [[], 60, 'there must be at least one reward source, got none'],
    [
      [{ source: source!, weight: Infinity }],
      60,
      'the weight of "length" must be a finite number, got Infinity',
    ],
    [
      [
        { source: source!, weight: 1 },
        { source: source!, weight: 2 },
      ],
      60,
      'reward sources must have different names, got "length" twice; name them',
    ],
    [[{ source: source!, weight: 1 }], 0, 'rewardTimeout must be above 0 s, got 0'],
  ])('rejects invalid sources and timeouts (%#)', (sources, rewardTimeout, problem) => {
    expect(() => new RewardComputer({ config, sources, rewardTimeout })).toThrow(
      `Cannot compute rewards: ${problem}`,
    );
  });

  test.each([undefined, {}, { klController: { coefficient: 1 } }])(
    'rejects the state %j',
    (state) => {
      expect(() => computer({ length }).restore(state)).toThrow(
        'Cannot restore rewards: the state must have klCoef, klController and scoreNormalizer, got',
      );
    },
  );
});
