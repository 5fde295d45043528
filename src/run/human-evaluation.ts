import type { Interval } from '../columns/index.ts';

/** A mean rating over prompts, from 1 to 5. */
export interface MeanRating {
  readonly mean: number;
  /** 95 % interval; null for a single prompt. */
  readonly interval: Interval | null;
}

/** How people judge a run's policy against another model that responds to the same prompts. */
export interface HumanEvaluation {
  /** Id of the label queue. */
  readonly queue: string;
  /** `reference`, or the name of another run. */
  readonly against: string;
  /** What people were asked to choose: the better of two responses, or a rating of each. */
  readonly kind: 'pair' | 'rating';
  /** Number of prompts in the queue, and of those that people have judged. */
  readonly prompts: number;
  readonly judged: number;
  /** Judged prompts with equal responses, which count as ties and are not shown. */
  readonly equal: number;
  readonly answers: number;
  readonly labellers: number;
  /** Prompts on which the majority prefers the policy, neither, or the other model. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** (wins + ½·ties) / judged */
  readonly winRate: number;
  /** 95 % interval of the win rate. */
  readonly interval: Interval;
  /** Null if people chose between two responses. */
  readonly ratings: {
    readonly policy: MeanRating;
    readonly other: MeanRating;
    /** Policy minus other. */
    readonly difference: MeanRating;
  } | null;
  /** Fraction of the tasks with several answers on which all labellers agree, and Krippendorff's α;
   *  null if undefined. */
  readonly agreement: number | null;
  readonly alpha: number | null;
  readonly time: string;
}

/** A line of `evaluations.jsonl` by people. */
export interface HumanEvaluationRow {
  /** The step of the policy. */
  readonly step: number;
  readonly human: HumanEvaluation;
}

/** Whether a line of `evaluations.jsonl` is by people; the others are measured by the run. */
export function isHumanEvaluation<T extends object>(row: T): row is T & HumanEvaluationRow {
  return 'human' in row && typeof row.human === 'object' && row.human !== null;
}

/** The latest evaluation of each queue, in the order of their steps. A queue is evaluated again
 *  whenever more people have answered.
 *  @example queue a, queue b, queue a  →  queue b, and queue a's second one */
export function latestHumanEvaluations(rows: readonly object[]): HumanEvaluationRow[] {
  const latest = new Map<string, HumanEvaluationRow>();
  for (const row of rows.filter(isHumanEvaluation)) {
    latest.delete(row.human.queue);
    latest.set(row.human.queue, { step: row.step, human: row.human });
  }
  return [...latest.values()].sort((a, b) => a.step - b.step);
}
