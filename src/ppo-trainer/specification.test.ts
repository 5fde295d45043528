import { describe, expect, it } from 'vitest';
import { countX, tinyLoaded, tinyPrompts } from '../../test/helpers/ppo-run.ts';
import type { RewardSample } from '../reward-kl/index.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const trainerWith = (rewards: (sample: RewardSample) => number) =>
  new PPOTrainer(
    { preset: 'specification', maxNewTokens: 5, batchSize: 6, loraR: 4, learningRate: 1e-2 },
    { model: tinyLoaded, rewards },
  );

const sample = (promptIdx: number, length: number): RewardSample => ({
  prompt: 'p',
  response: 'r',
  promptTokens: Int32Array.of(3),
  tokens: new Int32Array(length).fill(4),
  finished: true,
  promptIdx,
  sample: 0,
});

describe('the preset specification', () => {
  it('has the numbers worked out by hand', async () => {
    const parts = await trainerWith(({ promptIdx }) => (promptIdx === 0 ? 1 : 0)).components();
    const offsets = Int32Array.of(0, 2, 3);
    // r'_t = R − β·KL_t = 0.95, 1.05 and −0.1; their mean is 0.63333, their standard deviation 0.52015.
    const { rewards, stepOffsets } = await parts.rewardComputer.computeRewards(
      { kl: Float32Array.of(0.5, -0.5, 1), offsets },
      { samples: [sample(0, 2), sample(1, 1)] },
    );
    expectNumbers(rewards, [0.95, 1.05, -0.1]);

    // Normalised: 0.60880, 0.80105, −1.40985. δ_t = r_t + 0.99·V_{t+1} − V_t = 0.70580, 0.50105 and
    // −1.80985; A_1 = δ_1 + 0.99·0.95·δ_2 = 1.17704.
    const values = Float32Array.of(0.2, 0.3, 0.4);
    const sequences = [{ promptIdx: 0 }, { promptIdx: 1 }];
    const input = { sequences, offsets, stepOffsets, rewards, values } as never;
    const { advantages, returns } = parts.advantageComputer.computeAdvantages(input);
    expectNumbers(advantages, [1.17704, 0.50105, -1.80985]);
    expectNumbers(returns, [1.37704, 0.80105, -1.40985]);

    // −mean of min(1.5·A_1, 1.2·A_1), min(0.9·A_2, 0.9·A_2) and min(0.5·A_3, 0.8·A_3).
    const counts = { sequenceCount: 2, tokenCount: 3, stepCount: 3 };
    const zeros = new Float32Array(3);
    const policy = parts.policyLoss.evaluate({
      ...{ offsets, advantages, oldLogprobs: zeros, refLogprobs: zeros, entropies: zeros },
      newLogprobs: Float32Array.of(Math.log(1.5), Math.log(0.9), Math.log(0.5)),
      ...{ weights: undefined, klCoef: parts.rewardComputer.klCoef },
      ...counts,
    });
    expect(policy.loss).toBeCloseTo(-(1.41245 + 0.45095 - 1.44788) / 3, 4);

    // mean (0.3 − G_t)²
    const newValues = new Float32Array(3).fill(0.3);
    const value = parts.valueLoss.evaluate({ newValues, oldValues: values, returns, ...counts });
    expect(value.loss).toBeCloseTo((1.07704 ** 2 + 0.50105 ** 2 + 1.70985 ** 2) / 3, 4);
  });

  it('follows the formulas in every token of a real step', async () => {
    const trainer = trainerWith(countX);
    await trainer.ppoStep(tinyPrompts, { step: 0 });
    const { experience } = await trainer.ppoStep(tinyPrompts, { step: 1 });
    const { offsets, logprobs, refLogprobs, scores, values } = experience;
    expect(values.some((v) => v !== 0)).toBe(true);
    const adjusted = [...scores].flatMap((R, i) =>
      Array.from({ length: offsets[i + 1]! - offsets[i]! }, (_, k) => {
        const t = offsets[i]! + k;
        return R - 0.1 * (logprobs[t]! - refLogprobs[t]!);
      }),
    );
    const mean = adjusted.reduce((sum, r) => sum + r, 0) / adjusted.length;
    const squares = adjusted.reduce((sum, r) => sum + (r - mean) ** 2, 0);
    const deviation = Math.sqrt(squares / adjusted.length);
    const r = adjusted.map((x) => (x - mean) / deviation);
    const advantages: number[] = [];
    for (let i = 0; i < scores.length; i++) {
      const end = offsets[i + 1]!;
      const delta = (t: number) => r[t]! + 0.99 * (t + 1 < end ? values[t + 1]! : 0) - values[t]!;
      for (let t = offsets[i]!; t < end; t++) {
        let sum = 0;
        for (let k = t; k < end; k++) sum += (0.99 * 0.95) ** (k - t) * delta(k);
        advantages.push(sum);
      }
    }
    expectNumbers(experience.advantages, advantages);
    expectNumbers(
      experience.returns,
      advantages.map((a, t) => a + values[t]!),
    );
  });
});

function expectNumbers(actual: Float32Array, expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [i, x] of expected.entries()) expect(actual[i]).toBeCloseTo(x, 4);
}
