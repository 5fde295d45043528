/** Numbers of a step or an epoch: TRL's names, such as `objective/kl`, and short names for four of them. */
export type Metrics = Readonly<Record<string, number>>;

/** A logged response. */
export interface SampleRecord {
  readonly step: number;
  readonly promptIdx: number;
  readonly sample: number;
  readonly prompt: string;
  readonly response: string;
  readonly score: number;
  /** The score of each reward source, without its weight; missing in records of earlier versions. */
  readonly sourceScores?: Readonly<Record<string, number>> | undefined;
  /** Sum over the response's tokens. */
  readonly kl: number;
  readonly length: number;
  readonly finished: boolean;
  /** The turns of a conversation with an environment; missing without one. */
  readonly turns?: readonly TurnRecord[] | undefined;
}

/** One turn of the policy in a conversation, and the environment's answer. */
export interface TurnRecord {
  /** What the policy wrote. */
  readonly text: string;
  /** Of this turn alone. */
  readonly reward?: number | undefined;
  readonly calls: readonly CallRecord[];
  /** Messages of the environment besides the results of calls. */
  readonly answers: readonly { readonly role: string; readonly text: string }[];
}

/** A tool call of a turn. */
interface CallRecord {
  /** Missing if the call could not be parsed. */
  readonly tool?: string | undefined;
  readonly input?: unknown;
  /** What the policy saw. */
  readonly output: string;
  /** The kind of its error. */
  readonly error?: string | undefined;
  readonly seconds: number;
}

/** Tokens that the policy could have chosen instead, most likely first. */
export interface TokenAlternatives {
  readonly ids: readonly number[];
  readonly texts: readonly string[];
  readonly logprobs: readonly number[];
}

/** The logged numbers of a response's N tokens. With an extra step after the last token
 *  (`after-final`), rewards, values and returns have N + 1 numbers. */
export interface TokenRecord {
  readonly step: number;
  readonly promptIdx: number;
  readonly sample: number;
  readonly prompt: string;
  readonly ids: readonly number[];
  /** Text of each token; a stop token's is empty. */
  readonly texts: readonly string[];
  /** Texts of the environment, each before the token at its position; missing without an environment. */
  readonly observations?: readonly { readonly at: number; readonly text: string }[];
  /** log π_old */
  readonly logprobs: readonly number[];
  /** log π_sampled, if tokens were not sampled from π_old: 8-bit weights or filters. */
  readonly samplingLogprobs?: readonly number[];
  /** log π_ref */
  readonly refLogprobs: readonly number[];
  /** KL_t */
  readonly kl: readonly number[];
  /** r_t as the advantage estimator sees them: whitened if `whitenRewards` is set. */
  readonly rewards: readonly number[];
  /** V_t; zeros without a value model. */
  readonly values: readonly number[];
  /** A_t as the loss sees it, whitened if the config says so. */
  readonly advantages: readonly number[];
  /** G_t */
  readonly returns: readonly number[];
  /** H_t in nats, of the policy that generated. */
  readonly entropies: readonly number[];
  /** ρ_t = π_new/π_old when the loss last saw the token; null if it never did. */
  readonly ratios: readonly (number | null)[];
  /** Of the policy that generated. */
  readonly alternatives: readonly TokenAlternatives[];
  readonly gamma: number;
  readonly lambda: number;
  readonly klCoef: number;
  /** Mean and standard deviation that whitened the advantages; null if whitening is off. */
  readonly whitening: { readonly mean: number; readonly std: number } | null;
  /** The same for the rewards; missing in runs of earlier versions. */
  readonly rewardWhitening?: { readonly mean: number; readonly std: number } | null;
}

/** Why a run ended: all steps are done, a rule of the evaluator, or the user. */
export const stopReasons = [
  'completed',
  'converged',
  'collapsed',
  'degraded',
  'diverged',
  'interrupted',
] as const;

/** Why training ended. */
export type StopReason = (typeof stopReasons)[number];
