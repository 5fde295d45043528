/** Numbers of a step or an epoch: TRL's names, such as `objective/kl`, and the documents' short ones. */
export type Metrics = Readonly<Record<string, number>>;

/** A response as it is written down. */
export interface SampleRecord {
  readonly step: number;
  readonly promptIdx: number;
  readonly sample: number;
  readonly prompt: string;
  readonly response: string;
  readonly score: number;
  /** Sum over the response's tokens. */
  readonly kl: number;
  readonly length: number;
  readonly finished: boolean;
}

/** Why a run ended: all steps done, a rule of the evaluator, or its user. */
export const stopReasons = [
  'completed',
  'converged',
  'collapsed',
  'degraded',
  'diverged',
  'interrupted',
] as const;

export type StopReason = (typeof stopReasons)[number];
