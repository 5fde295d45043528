import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type Whitening, whiten, whiteningOf } from '../reward-kl/whiten.ts';
import { advantageEstimators, type EstimatorConfig, type EstimatorInput } from './estimators.ts';
import { gaeAdvantages } from './gae-advantage.ts';
import { returnsOf } from './reward-to-go.ts';
import { tdErrors } from './td-error.ts';

export type AdvantageConfig = EstimatorConfig &
  Pick<PPOConfig, 'advantageEstimator' | 'whitenRewards' | 'whitenAdvantages'>;

/** Rewards and values of a rollout, as columns of N tokens and S steps. */
export interface AdvantageInput extends EstimatorInput {
  /** Sequence i has the tokens from offsets[i] to offsets[i + 1], [B + 1]. */
  readonly offsets: Int32Array;
}

export interface Advantages {
  /** A_t of the tokens, whitened if the config says so, [N]. */
  readonly advantages: Float32Array;
  /** G_t of the steps, from advantages that are not whitened, [S]. */
  readonly returns: Float32Array;
  /** Where advantages are whitened: how. */
  readonly whitening?: Whitening;
  /** Where rewards are whitened: r_t as the estimator sees them, [S]. */
  readonly whitenedRewards?: Float32Array;
}

/** Turns rewards into what the policy and the value model learn from. */
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
   * Advantages and returns of a rollout: whitens rewards without moving their mean, estimates, takes
   * the returns, and whitens advantages over the tokens. A step after the last token counts in all
   * but the last: it is no action of the policy.
   */
  computeAdvantages(input: AdvantageInput): Advantages {
    expectRollout(input);
    const { whitenRewards, whitenAdvantages, whitening: variance } = this.config;
    const estimator = advantageEstimators[this.config.advantageEstimator];
    const whitenedRewards = whitenRewards
      ? whiten(input.rewards, { variance, shiftMean: false })
      : undefined;
    const rewards = whitenedRewards ?? input.rewards;
    const steps = estimator.estimate({ ...input, rewards }, this.config);
    const plain = takeTokens(steps.advantages, input);
    const isWhitened = whitenAdvantages && estimator.whitens;
    return {
      advantages: isWhitened ? whiten(plain, { variance, shiftMean: true }) : plain,
      returns: steps.returns,
      ...(isWhitened && { whitening: whiteningOf(plain, variance) }),
      ...(whitenedRewards && { whitenedRewards }),
    };
  }
}

function expectRollout({ sequences, offsets, stepOffsets, rewards }: AdvantageInput): void {
  const action = 'compute advantages';
  expectLengths({ offsets, stepOffsets }, { action, length: sequences.length + 1 });
  expectLengths({ rewards }, { action, length: stepOffsets.at(-1)! });
}

/** The steps that are tokens: the first of each sequence, as many as it has tokens. */
function takeTokens(
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
