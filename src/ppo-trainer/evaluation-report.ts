import type { SampleRecord, StopReason } from './records.ts';

/** How the policy does on the validation prompts. */
export interface Performance {
  /** Mean score of greedy responses. */
  readonly greedyReward: number;
  /** Mean and standard deviation of the scores of sampled responses. */
  readonly reward: number;
  readonly rewardStd: number;
  /** Mean over prompts of the best of n sampled responses. */
  readonly bestOfN: number;
  /** Part of the prompts on which the policy's greedy response scores higher than the reference's; ties count ½. */
  readonly winRate: number;
  /** Mean sum over a response's tokens. */
  readonly kl: number;
  /** Mean of a token's, in nats. */
  readonly entropy: number;
  /** Mean tokens of a response. */
  readonly length: number;
  /** Part of 3-grams that came before in the same response. */
  readonly repetition: number;
  /** 1 − Var(G − V)/Var(G) on sampled responses; NaN without a value model. */
  readonly explainedVariance: number;
}

/** Whether training should go on, and why. */
export interface Convergence {
  readonly converged: boolean;
  readonly performanceImproved: boolean;
  /** Set where a rule says that training should stop. */
  readonly stop: StopReason | undefined;
  /** One sentence for people. */
  readonly message: string;
}

export interface EvaluationReport {
  readonly performance: Performance;
  readonly convergence: Convergence;
  /** Greedy responses of policy and reference to the first prompts. */
  readonly samples: readonly (SampleRecord & {
    readonly refResponse: string;
    readonly refScore: number;
  })[];
}
