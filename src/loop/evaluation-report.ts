import type { Interval } from '../columns/index.ts';
import type { Metrics, SampleRecord, StopReason } from './records.ts';

/** How the policy does on the validation prompts. Rewards are what training optimises before
 *  normalisation and KL: the weighted sum of the sources' scores, minus `missingEosPenalty` for a
 *  response that does not finish. */
export interface Performance {
  /** Number of prompts. */
  readonly prompts: number;
  /** Mean reward of greedy responses. */
  readonly greedyReward: number;
  /** Mean and standard deviation of the rewards of sampled responses. The mean decides the best
   *  checkpoint and whether the policy has degraded. */
  readonly reward: number;
  readonly rewardStd: number;
  /** 95 % interval of the mean reward, over prompts; NaN for a single prompt. */
  readonly rewardInterval: Interval;
  /** Mean and standard deviation of each source's own scores of the sampled responses. */
  readonly rewards: Readonly<Record<string, { readonly mean: number; readonly std: number }>>;
  /** Fraction of the sampled responses that finished within `maxNewTokens`. */
  readonly finishedRate: number;
  /** Number of sampled responses. */
  readonly responses: number;
  /** Mean over prompts of the best of n sampled responses. */
  readonly bestOfN: number;
  /** Fraction of the prompts on which the policy's greedy response scores higher than the reference's; ties count ½. */
  readonly winRate: number;
  /** Wilson's 95 % interval of the win rate. */
  readonly winRateInterval: Interval;
  /** Mean sum over a sampled response's tokens of log π − log π_ref, at training's temperature. */
  readonly kl: number;
  /** Mean over the tokens of sampled responses, in nats, at training's temperature. */
  readonly entropy: number;
  /** Mean tokens of a sampled response. */
  readonly length: number;
  /** Fraction of 3-grams that occurred before in the same sampled response. */
  readonly repetition: number;
  /** 1 − Var(G − V)/Var(G) over tokens of sampled responses, with G = Σ γ^i·r_{t+i} of training's
   *  rewards; NaN without a value model or if all G are equal. */
  readonly explainedVariance: number;
}

/** Whether training should continue, and why. */
export interface Convergence {
  readonly converged: boolean;
  readonly performanceImproved: boolean;
  /** Set if a rule says that training should stop. */
  readonly stop: StopReason | undefined;
  /** One sentence for the user. */
  readonly message: string;
  /** Whether the KL from the reference is stable over the last evaluations. */
  readonly kl: Trend;
  /** Whether the value model still improves; undefined without one. */
  readonly value: Trend | undefined;
}

/** How a number changes over the last evaluations. */
export interface Trend {
  /** `unknown` until there are `trendWindow` evaluations. */
  readonly direction: 'unknown' | 'stable' | 'rising' | 'falling';
  /** Change over the window along the least-squares line; NaN while unknown. */
  readonly change: number;
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
  const metrics: Record<string, number> = {
    'eval/reward': performance.reward,
    'eval/reward_std': performance.rewardStd,
    'eval/greedy_reward': performance.greedyReward,
    'eval/best_of_n': performance.bestOfN,
    'eval/win_rate': performance.winRate,
    'eval/finished_rate': performance.finishedRate,
    'eval/kl': performance.kl,
    'eval/entropy': performance.entropy,
    'eval/length': performance.length,
    'eval/repetition': performance.repetition,
    'eval/explained_variance': performance.explainedVariance,
  };
  // Runs of earlier versions have neither the rewards of sources nor the rate of finished responses.
  for (const [name, { mean, std }] of Object.entries(performance.rewards ?? {})) {
    metrics[`eval/rewards/${name}/mean`] = mean;
    metrics[`eval/rewards/${name}/std`] = std;
  }
  return Object.fromEntries(
    Object.entries(metrics).filter(([, x]) => x !== undefined && !Number.isNaN(x)),
  );
}
