import type { Metrics, SampleRecord, StopReason } from './records.ts';

/** How the policy does on the validation prompts. */
export interface Performance {
  /** Mean score of greedy responses. */
  readonly greedyReward: number;
  /** Mean and standard deviation of the scores of sampled responses. */
  readonly reward: number;
  readonly rewardStd: number;
  /** Sampled responses that those are of. */
  readonly responses: number;
  /** Mean over prompts of the best of n sampled responses. */
  readonly bestOfN: number;
  /** Part of the prompts on which the policy's greedy response scores higher than the reference's; ties count ½. */
  readonly winRate: number;
  /** Mean sum over a sampled response's tokens of log π − log π_ref, at training's temperature. */
  readonly kl: number;
  /** Mean over the tokens of sampled responses, in nats, at training's temperature. */
  readonly entropy: number;
  /** Mean tokens of a sampled response. */
  readonly length: number;
  /** Part of 3-grams that came before in the same sampled response. */
  readonly repetition: number;
  /** 1 − Var(G − V)/Var(G) over tokens of sampled responses, with G = Σ γ^i·r_{t+i} of training's
   *  rewards; NaN without a value model or if all G are equal. */
  readonly explainedVariance: number;
}

/** Whether training should go on, and why. */
export interface Convergence {
  readonly converged: boolean;
  readonly performanceImproved: boolean;
  /** Set if a rule says that training should stop. */
  readonly stop: StopReason | undefined;
  /** One sentence for the user. */
  readonly message: string;
}

/** The result of one evaluation: performance, convergence and sample responses. */
export interface EvaluationReport {
  readonly performance: Performance;
  readonly convergence: Convergence;
  /** Greedy responses of policy and reference to the first prompts. */
  readonly samples: readonly (SampleRecord & {
    readonly refResponse: string;
    readonly refScore: number;
  })[];
}

/** An evaluation's numbers under the names of metrics. One that is NaN is left out: without a value
 *  model there is no explained variance. */
export function evaluationMetrics({ performance }: Pick<EvaluationReport, 'performance'>): Metrics {
  const metrics = {
    'eval/reward': performance.reward,
    'eval/reward_std': performance.rewardStd,
    'eval/greedy_reward': performance.greedyReward,
    'eval/best_of_n': performance.bestOfN,
    'eval/win_rate': performance.winRate,
    'eval/kl': performance.kl,
    'eval/entropy': performance.entropy,
    'eval/length': performance.length,
    'eval/repetition': performance.repetition,
    'eval/explained_variance': performance.explainedVariance,
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => !Number.isNaN(value)));
}
