import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type Whitening, whiten, whiteningOf } from '../reward-kl/whiten.ts';
import { gaeAdvantages, returnsOf, rewardToGo, tdErrors } from './gae.ts';
import {
  type GroupAdvantage,
  type GroupedRewards,
  groupAdvantages,
  grpoAdvantages,
  reinforceAdvantages,
  rlooAdvantages,
} from './group-relative.ts';

/** The config fields that advantage estimation reads. */
export type AdvantageConfig = Pick<
  PPOConfig,
  | 'advantageEstimator'
  | 'gamma'
  | 'lam'
  | 'whitening'
  | 'whitenRewards'
  | 'centerRewards'
  | 'whitenAdvantages'
>;

/** Rewards and values of a rollout, as columns of N tokens and S steps. Rewards include the KL
 *  penalty and the score. */
export interface AdvantageInput extends GroupedRewards {
  /** Sequence i has the tokens from offsets[i] up to offsets[i + 1], [B + 1]. */
  readonly offsets: Int32Array;
  /** Sequence i has the steps from stepOffsets[i] up to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
  /** r_t, [S] */
  readonly rewards: Float32Array;
  /** V_t, [S]; only `gae` reads them. */
  readonly values: Float32Array;
}

/** Advantages and returns of a rollout, ready for training. */
export interface Advantages {
  /** A_t of the tokens, whitened if the config says so, [N]. */
  readonly advantages: Float32Array;
  /** G_t of the steps, from unwhitened advantages, [S]. */
  readonly returns: Float32Array;
  /** Mean and standard deviation that whitening removed from the advantages; missing if unwhitened. */
  readonly whitening?: Whitening;
  /** r_t as the estimator sees them, [S]; missing if rewards are not whitened. */
  readonly whitenedRewards?: Float32Array;
}

/** One way to compute advantages from rewards. */
export interface AdvantageEstimator {
  /** Unwhitened advantages A_t and returns G_t, both per step. */
  estimate(input: AdvantageInput, config: AdvantageConfig): StepAdvantages;
  /** Whether `whitenAdvantages` applies; a group's baseline already normalises. */
  readonly whitens: boolean;
}

/** What an estimator returns: one advantage and one return per step, before whitening. */
export interface StepAdvantages {
  /** [S] */
  readonly advantages: Float32Array;
  /** [S] */
  readonly returns: Float32Array;
}

/** Every advantage estimator by its name in the config. Returns are A_t + V_t for `gae`; the others
 *  train no value model and return rewards-to-go. */
export const advantageEstimators: {
  readonly [Name in PPOConfig['advantageEstimator']]: AdvantageEstimator;
} = {
  gae: { estimate: estimateGae, whitens: true },
  rloo: { estimate: estimateGroups(rlooAdvantages), whitens: false },
  grpo: { estimate: estimateGroups(grpoAdvantages), whitens: false },
  'reinforce++': { estimate: estimateReinforce, whitens: true },
};

/** Computes what the policy and the value model learn from: advantages and returns. */
export class AdvantageComputer {
  private readonly config: AdvantageConfig;

  constructor(config: AdvantageConfig) {
    this.config = config;
  }

  /** δ_t = r_t + γV_{t+1} − V_t of one sequence; V after its end = 0.
   *  @example r=[1, 2], V=[4, 2], γ=½  →  [−2, 0] */
  computeTdErrors(
    rewards: ArrayLike<number>,
    values: ArrayLike<number>,
    gamma: number = this.config.gamma,
  ): Float32Array {
    const [r, v] = [Float32Array.from(rewards), Float32Array.from(values)];
    return tdErrors(r, v, { offsets: Int32Array.of(0, r.length), gamma });
  }

  /** A_t = δ_t + γλA_{t+1} of one sequence.
   *  @example δ=[0, 0, ½], γ=1, λ=½  →  [⅛, ¼, ½] */
  computeGaeAdvantages(
    tdErrors: ArrayLike<number>,
    gamma: number = this.config.gamma,
    lam: number = this.config.lam,
  ): Float32Array {
    const delta = Float32Array.from(tdErrors);
    return gaeAdvantages(delta, { offsets: Int32Array.of(0, delta.length), gamma, lam });
  }

  /** G_t = A_t + V_t.
   *  @example A=[⅛, ¼, ½], V=[½, ½, ½]  →  [⅝, ¾, 1] */
  computeReturns(advantages: ArrayLike<number>, values: ArrayLike<number>): Float32Array {
    return returnsOf(Float32Array.from(advantages), Float32Array.from(values));
  }

  /**
   * Advantages and returns of a rollout: whitens rewards but keeps their mean unless they are centred,
   * estimates advantages and returns, then whitens the advantages of the tokens. A step after the last token is not an action:
   * it counts everywhere except in the advantages.
   */
  computeAdvantages(input: AdvantageInput): Advantages {
    checkColumns(input);
    const { whitenRewards, centerRewards, whitenAdvantages, whitening: variance } = this.config;
    const estimator = advantageEstimators[this.config.advantageEstimator];
    const whitenedRewards = whitenRewards
      ? whiten(input.rewards, { variance, shiftMean: centerRewards })
      : undefined;
    const rewards = whitenedRewards ?? input.rewards;
    const steps = estimator.estimate({ ...input, rewards }, this.config);
    const unwhitened = selectTokenSteps(steps.advantages, input);
    const isWhitened = whitenAdvantages && estimator.whitens;
    return {
      advantages: isWhitened ? whiten(unwhitened, { variance, shiftMean: true }) : unwhitened,
      returns: steps.returns,
      ...(isWhitened && { whitening: whiteningOf(unwhitened, variance) }),
      ...(whitenedRewards && { whitenedRewards }),
    };
  }
}

/** Generalised advantage estimation: TD errors, then their discounted sums. */
function estimateGae(
  { stepOffsets: offsets, rewards, values }: AdvantageInput,
  { gamma, lam }: AdvantageConfig,
): StepAdvantages {
  const errors = tdErrors(rewards, values, { offsets, gamma });
  const advantages = gaeAdvantages(errors, { offsets, gamma, lam });
  return { advantages, returns: returnsOf(advantages, values) };
}

function estimateReinforce(
  { stepOffsets: offsets, rewards }: AdvantageInput,
  { gamma }: AdvantageConfig,
): StepAdvantages {
  const advantages = reinforceAdvantages(rewards, { offsets, gamma });
  return { advantages, returns: advantages };
}

function estimateGroups(advantage: GroupAdvantage): AdvantageEstimator['estimate'] {
  return (input, { gamma, whitening }) => ({
    advantages: groupAdvantages(input, { advantage, whitening }),
    returns: rewardToGo(input.rewards, { offsets: input.stepOffsets, gamma }),
  });
}

function checkColumns({ sequences, offsets, stepOffsets, rewards }: AdvantageInput): void {
  const action = 'compute advantages';
  expectLengths({ offsets, stepOffsets }, { action, length: sequences.length + 1 });
  expectLengths({ rewards }, { action, length: stepOffsets.at(-1)! });
}

/** The steps that are tokens: all of a sequence except the one after its last token. */
function selectTokenSteps(
  steps: Float32Array,
  { offsets, stepOffsets }: Pick<AdvantageInput, 'offsets' | 'stepOffsets'>,
): Float32Array {
  const tokens = new Float32Array(offsets.at(-1)!);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const [start, end] = [offsets[i]!, offsets[i + 1]!];
    const first = stepOffsets[i]!;
    tokens.set(steps.subarray(first, first + end - start), start);
  }
  return tokens;
}
