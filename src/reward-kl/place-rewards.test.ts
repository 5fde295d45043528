import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { readTrlGolden, trlCases } from '../../test/helpers/trl-golden.ts';
import { offsetsOf } from '../columns/index.ts';
import { klDivergence } from '../token-attribution/kl-divergence.ts';
import { type PlacementOptions, placeRewards, type RewardParts } from './place-rewards.ts';

const options: PlacementOptions = {
  klCoef: 0.1,
  klPlacement: 'reward',
  rewardPlacement: 'final',
  maxNewTokens: 3,
};

/** Two tokens with R = 1, then three tokens (the limit) with R = 2. */
const parts: RewardParts = {
  scores: Float32Array.of(1, 2),
  kl: Float32Array.of(1, 2, 0, 1, -1),
  offsets: Int32Array.of(0, 2, 5),
};

const placed = (changes: Partial<PlacementOptions>, partChanges: Partial<RewardParts> = {}) =>
  placeRewards({ ...parts, ...partChanges }, { ...options, ...changes });

describe('placeRewards()', () => {
  test.each([
    ['final', [-0.1, 0.8, 0, -0.1, 2.1], [0, 2, 5]],
    ['every', [0.9, 0.8, 2, 1.9, 2.1], [0, 2, 5]],
    ['after-final', [-0.1, -0.2, 1, 0, -0.1, 2.1], [0, 3, 6]],
  ] as const)('matches the worked example: %s', (rewardPlacement, rewards, steps) => {
    const result = placed({ rewardPlacement });
    expectClose(result.rewards, { expected: rewards, within: 1e-7, label: 'rewards' });
    expect([...result.stepOffsets]).toEqual(steps);
  });

  test('contains no KL if the penalty is in the loss', () => {
    const { rewards } = placed({ klPlacement: 'loss' });
    expect([...rewards]).toEqual([0, 1, 0, 0, 2]);
  });

  test.each([
    ['final', [10, 21, 30, 40, 52]],
    ['every', [11, 21, 32, 42, 52]],
    ['after-final', [10, 20, 1, 30, 40, 52]],
  ] as const)('adds token scores on their tokens: %s', (rewardPlacement, expected) => {
    const tokenScores = Float32Array.of(10, 20, 30, 40, 50);
    const { rewards } = placed({ rewardPlacement, klCoef: 0 }, { tokenScores });
    expect([...rewards]).toEqual(expected);
  });

  test('rewards of a response sum to R − β·ΣKL, or to L·R − β·ΣKL with R on every token', () => {
    const response = fc.record({
      score: fc.integer({ min: -8, max: 8 }),
      kl: fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 1, maxLength: 6 }),
    });
    const placements = fc.constantFrom('final', 'every', 'after-final');
    fc.assert(
      fc.property(fc.array(response), placements, (responses, rewardPlacement) => {
        const { rewards, stepOffsets } = placed(
          { rewardPlacement, klCoef: 0.5, maxNewTokens: 6 },
          {
            scores: Float32Array.from(responses, ({ score }) => score),
            kl: Float32Array.from(responses.flatMap(({ kl }) => kl)),
            offsets: offsetsOf(responses.map(({ kl }) => kl.length)),
          },
        );
        responses.forEach(({ score, kl }, i) => {
          const own = rewards.subarray(stepOffsets[i]!, stepOffsets[i + 1]!);
          const sum = own.reduce((total, r) => total + r, 0);
          const penalty = 0.5 * kl.reduce((total, x) => total + x, 0);
          expect(sum).toBe((rewardPlacement === 'every' ? kl.length : 1) * score - penalty);
        });
        expect(rewards.length).toBe(stepOffsets.at(-1));
      }),
    );
  });

  test('rejects a response without tokens', () => {
    expect(() => placed({}, { offsets: Int32Array.of(0, 5, 5) })).toThrow(
      'Cannot place rewards: response 1 must have at least one token, got none',
    );
  });

  test.each(trlCases)("matches TRL's rewards: %s", (name) => {
    const { hyperparameters, inputs, outputs, tokens, steps, offsets, stepOffsets } =
      readTrlGolden(name);
    const [logprobs, refLogprobs] = [tokens(inputs.logprobs), tokens(inputs.ref_logprobs)];
    const kl = logprobs.map((logprob, n) =>
      klDivergence(hyperparameters.kl_estimator, logprob - refLogprobs[n]!),
    );
    expectClose(kl, { expected: tokens(outputs.kl), within: 1e-5, label: 'kl' });
    const trl: PlacementOptions = {
      klCoef: hyperparameters.kl_coef,
      klPlacement: 'reward',
      rewardPlacement: 'after-final',
      maxNewTokens: inputs.responses[0]!.length,
    };
    const zeros = new Float32Array(inputs.lengths.length);
    const nonScore = placeRewards({ scores: zeros, kl, offsets }, trl);
    const expected = steps(outputs.non_score_reward);
    expectClose(nonScore.rewards, { expected, within: 1e-5, label: 'non-score rewards' });
    const scores = Float32Array.from(outputs.scores_after_penalty);
    const result = placeRewards({ scores, kl, offsets }, trl);
    expect(result.stepOffsets).toEqual(stepOffsets);
    const rewards = steps(outputs.rewards_before_whitening);
    expectClose(result.rewards, { expected: rewards, within: 1e-5, label: 'rewards' });
  });
});
