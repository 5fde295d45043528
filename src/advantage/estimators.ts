import type { PPOConfig } from '../config/ppo-config.ts';
import type { RolloutSequence } from '../token-attribution/rollout.ts';
import { gaeAdvantages } from './gae-advantage.ts';
import {
  type GroupAdvantage,
  groupAdvantages,
  grpoAdvantages,
  rlooAdvantages,
} from './group-advantages.ts';
import { returnsOf, rewardToGo } from './reward-to-go.ts';
import { tdErrors } from './td-error.ts';

/** What estimators read, on steps: rewards hold the KL penalty and the score. */
export interface EstimatorInput {
  /** Responses to one prompt form a group. */
  readonly sequences: readonly Pick<RolloutSequence, 'promptIdx'>[];
  /** Sequence i has the steps from stepOffsets[i] to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
  /** r_t, [S] */
  readonly rewards: Float32Array;
  /** V_t, [S]; only `gae` reads them. */
  readonly values: Float32Array;
}

export type EstimatorConfig = Pick<PPOConfig, 'gamma' | 'lam' | 'whitening'>;

/** A way from rewards to advantages. */
export interface AdvantageEstimator {
  /** Advantages A_t, not whitened, and returns G_t, both on steps [S]. */
  estimate(input: EstimatorInput, config: EstimatorConfig): StepAdvantages;
  /** Whether `whitenAdvantages` applies: a group's baseline already is a normalisation. */
  readonly whitens: boolean;
}

export interface StepAdvantages {
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
}

/** Every advantage estimator by its name in the config. Returns are A_t + V_t for `gae`; the others
 *  train no value model, and theirs are rewards-to-go. */
export const advantageEstimators: {
  readonly [Name in PPOConfig['advantageEstimator']]: AdvantageEstimator;
} = {
  gae: { estimate: estimateGae, whitens: true },
  rloo: { estimate: compareGroups(rlooAdvantages), whitens: false },
  grpo: { estimate: compareGroups(grpoAdvantages), whitens: false },
  'reinforce++': { estimate: estimateReinforce, whitens: true },
};

/** Generalised advantage estimation: TD errors, then their discounted sums. */
function estimateGae(
  { stepOffsets: offsets, rewards, values }: EstimatorInput,
  { gamma, lam }: EstimatorConfig,
): StepAdvantages {
  const errors = tdErrors(rewards, values, { offsets, gamma });
  const advantages = gaeAdvantages(errors, { offsets, gamma, lam });
  return { advantages, returns: returnsOf(advantages, values) };
}

/** REINFORCE++ (arXiv:2501.03262): A_t = G_t, whose whitening over the rollout is the baseline. */
function estimateReinforce(
  { stepOffsets: offsets, rewards }: EstimatorInput,
  { gamma }: EstimatorConfig,
): StepAdvantages {
  const returns = rewardToGo(rewards, { offsets, gamma });
  return { advantages: returns, returns };
}

function compareGroups(advantage: GroupAdvantage): AdvantageEstimator['estimate'] {
  return (input, { gamma, whitening }) => ({
    advantages: groupAdvantages(input, { advantage, whitening }),
    returns: rewardToGo(input.rewards, { offsets: input.stepOffsets, gamma }),
  });
}
