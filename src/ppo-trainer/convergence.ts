import { z } from 'zod';
import type { TrainingConfig } from '../config/training-config.ts';
import type { Convergence, Performance, Trend } from '../loop/evaluation-report.ts';
import type { StopReason } from '../loop/records.ts';
import { klTrend, show, valueTrend } from './trend.ts';

export type ConvergenceConfig = Pick<
  TrainingConfig,
  | 'minEntropy'
  | 'maxRepetition'
  | 'maxKl'
  | 'maxDegradation'
  | 'plateauPatience'
  | 'plateauDelta'
  | 'trendWindow'
  | 'klStability'
  | 'valueStability'
  | 'stopOnCollapse'
>;

/** A rule that applies, and a message about it. */
interface Finding {
  readonly reason: StopReason;
  readonly message: string;
}

/**
 * Watches evaluations and decides whether training should continue. The first rule that applies counts:
 *
 * - collapsed: entropy < minEntropy, or repetition > maxRepetition and > that of the first evaluation
 * - diverged: KL > maxKl
 * - degraded: best − reward > maxDegradation · SE
 * - converged: no reward > that of the last rise + plateauDelta · SE in plateauPatience evaluations,
 *   while over trendWindow evaluations the KL is stable and the explained variance does not rise
 *
 * An unknown trend does not prevent convergence. The first three are faults: they stop training if
 * stopOnCollapse is set, otherwise they warn. A fault that stops training never counts as an
 * improvement, because a policy often breaks by exploiting the reward.
 */
export class ConvergenceMonitor {
  private readonly config: ConvergenceConfig;
  private memory: ConvergenceState = INITIAL_STATE;

  constructor(config: ConvergenceConfig) {
    this.config = config;
  }

  /** Records the next evaluation and returns the verdict. */
  update(performance: Performance): Convergence {
    const { best, firstRepetition } = this.memory;
    const fault = this.findFault(performance);
    const stopsForFault = fault !== undefined && this.config.stopOnCollapse;
    const performanceImproved = !stopsForFault && isHigher(performance.reward, best);
    const recent = this.remember(performance);
    const { kl, value } = this.findTrends(recent);
    this.memory = {
      recent,
      firstRepetition: firstRepetition ?? performance.repetition,
      best: performanceImproved ? markOf(performance) : best,
      ...this.followRise(performance, stopsForFault),
    };
    const plateau = this.findPlateau();
    const unsettled = findUnsettled(kl, value);
    const isSettled = unsettled === undefined;
    const stop = stopsForFault ? fault.reason : isSettled ? plateau?.reason : undefined;
    const course = plateau && (isSettled ? plateau.message : explainDelay(plateau, unsettled));
    const message = this.describe(fault, course) ?? describeReward(performance.reward, best);
    return { converged: stop === 'converged', performanceImproved, stop, message, kl, value };
  }

  /** The state for a checkpoint. */
  state(): ConvergenceState {
    return this.memory;
  }

  /** Restores a saved state. */
  restore(state: unknown): void {
    this.memory = readConvergenceState(state);
  }

  /** The numbers of the last evaluations. JSON has no NaN. */
  private remember({ kl, explainedVariance }: Performance): ConvergenceState['recent'] {
    const finite = (x: number) => (Number.isFinite(x) ? x : null);
    const now = { kl: finite(kl), explainedVariance: finite(explainedVariance) };
    return [...this.memory.recent, now].slice(-this.config.trendWindow);
  }

  private findTrends(recent: ConvergenceState['recent']): Pick<Convergence, 'kl' | 'value'> {
    const { trendWindow: window, klStability, valueStability } = this.config;
    const kls = recent.map(({ kl }) => kl ?? Number.NaN);
    const explained = recent.map(({ explainedVariance }) => explainedVariance ?? Number.NaN);
    // There is no value model, or all returns were equal each time.
    const hasValues = explained.some(Number.isFinite);
    return {
      kl: klTrend(kls, { window, klStability }),
      value: hasValues ? valueTrend(explained, { window, valueStability }) : undefined,
    };
  }

  /** Conditions are written so that a NaN violates them. */
  private findFault({ entropy, repetition, kl, ...rest }: Performance): Finding | undefined {
    const { minEntropy, maxRepetition, maxKl } = this.config;
    const { firstRepetition } = this.memory;
    if (!(entropy >= minEntropy)) {
      return {
        reason: 'collapsed',
        message: `The policy has collapsed: entropy is ${show(entropy)} nats per token but minEntropy requires ${minEntropy}`,
      };
    }
    if (repetition > maxRepetition && repetition > (firstRepetition ?? repetition)) {
      return {
        reason: 'collapsed',
        message: `The policy has collapsed: ${show(repetition)} of 3-grams are repeated but maxRepetition allows ${maxRepetition} and the first evaluation had ${show(firstRepetition!)}`,
      };
    }
    if (!(kl <= maxKl)) {
      return {
        reason: 'diverged',
        message: `The policy has diverged from its reference: KL is ${show(kl)} nats per response but maxKl allows ${maxKl}`,
      };
    }
    return this.findDegradation(rest);
  }

  /** A single response has no standard error, so its drop may be due to chance. */
  private findDegradation(now: RewardMark): Finding | undefined {
    const { maxDegradation } = this.config;
    const { best } = this.memory;
    if (best === null || Math.min(best.responses, now.responses) < 2) return undefined;
    const fall = best.reward - now.reward;
    const allowed = maxDegradation * standardError(now, best);
    if (!(fall > allowed)) return undefined;
    return {
      reason: 'degraded',
      message: `The reward has degraded: ${show(now.reward)} is ${show(fall)} below its best of ${show(best.reward)} but maxDegradation allows ${maxDegradation} standard errors, ${show(allowed)}`,
    };
  }

  /** Small rises add up: `lastRise` stays at the last rise that counted. */
  private followRise(
    now: Performance,
    stopsForFault: boolean,
  ): Pick<ConvergenceState, 'lastRise' | 'evaluationsSinceRise'> {
    const { lastRise, evaluationsSinceRise } = this.memory;
    const margin = lastRise === null ? 0 : this.config.plateauDelta * standardError(now, lastRise);
    if (!stopsForFault && isHigher(now.reward - margin, lastRise)) {
      return { lastRise: markOf(now), evaluationsSinceRise: 0 };
    }
    return { lastRise, evaluationsSinceRise: evaluationsSinceRise + 1 };
  }

  private findPlateau(): Finding | undefined {
    const { plateauPatience, plateauDelta } = this.config;
    const { lastRise, evaluationsSinceRise } = this.memory;
    if (plateauPatience === 0 || lastRise === null || evaluationsSinceRise < plateauPatience) {
      return undefined;
    }
    return {
      reason: 'converged',
      message: `The reward has converged: it has not risen from ${show(lastRise.reward)} by ${plateauDelta} standard errors in ${evaluationsSinceRise === 1 ? 'one evaluation' : `${evaluationsSinceRise} evaluations`}`,
    };
  }

  private describe(fault: Finding | undefined, course: string | undefined): string | undefined {
    if (fault === undefined) return course;
    if (this.config.stopOnCollapse) return fault.message;
    const next = course && lowerFirst(course);
    return `${fault.message}; ${next ?? 'training continues because stopOnCollapse is false'}`;
  }
}

/** The trend that shows that training still changes the models, if there is one. A value model that
 *  gets worse will not improve by waiting. */
function findUnsettled(kl: Trend, value: Trend | undefined): Trend | undefined {
  if (kl.direction === 'rising' || kl.direction === 'falling') return kl;
  return value?.direction === 'rising' ? value : undefined;
}

/** Says why training continues although the reward has stopped rising. */
function explainDelay(plateau: Finding, unsettled: Trend): string {
  const reward = plateau.message.replace('has converged', 'has stopped rising');
  return `${reward}; training continues: ${lowerFirst(unsettled.message)}`;
}

function lowerFirst(sentence: string): string {
  return sentence.replace(/^The/, 'the');
}

/** The standard error of the difference of two mean rewards: SE = √(s₁²/n₁ + s₂²/n₂).
 *  The prompts are the same each time, and their share of s² cancels out in the difference, so SE
 *  tends to be too large.
 *  @example s=3 of n=9, s=4 of n=16  →  √(1 + 1) = 1.4142 */
function standardError(a: RewardMark, b: RewardMark): number {
  return Math.sqrt(a.rewardStd ** 2 / a.responses + b.rewardStd ** 2 / b.responses);
}

function markOf({ reward, rewardStd, responses }: RewardMark): RewardMark {
  return { reward, rewardStd, responses };
}

/** Any finite reward is higher than no earlier reward. */
function isHigher(reward: number, mark: RewardMark | null): boolean {
  return Number.isFinite(reward) && (mark === null || reward > mark.reward);
}

function describeReward(reward: number, best: RewardMark | null): string {
  if (best === null) return `The first validation reward is ${show(reward)}`;
  if (reward > best.reward) {
    return `The validation reward is ${show(reward)}, its best so far, after ${show(best.reward)}`;
  }
  return `The validation reward is ${show(reward)}, not above its best of ${show(best.reward)}`;
}

const markSchema = z.strictObject({
  reward: z.number(),
  rewardStd: z.number(),
  responses: z.int().min(1),
});

const stateSchema = z.strictObject({
  /** KL and explained variance of the last evaluations, for their trends. */
  recent: z.array(
    z.strictObject({ kl: z.number().nullable(), explainedVariance: z.number().nullable() }),
  ),
  firstRepetition: z.number().nullable(),
  best: markSchema.nullable(),
  lastRise: markSchema.nullable(),
  evaluationsSinceRise: z.int().min(0),
});

/** The reward of an evaluation and its spread. */
export type RewardMark = Readonly<z.output<typeof markSchema>>;

/** State of a convergence monitor, as plain JSON for a checkpoint. */
export type ConvergenceState = Readonly<z.output<typeof stateSchema>>;

/** The state before the first evaluation. */
const INITIAL_STATE: ConvergenceState = {
  recent: [],
  firstRepetition: null,
  best: null,
  lastRise: null,
  evaluationsSinceRise: 0,
};

/** Checks a state from a checkpoint. */
function readConvergenceState(state: unknown): ConvergenceState {
  const { success, data, error } = stateSchema.safeParse(state);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue!.path.length > 0 ? `"${issue!.path.join('.')}" of the state` : 'the state';
  throw new RangeError(
    `Cannot restore convergence: ${place} must be a value that state() returned, got ${JSON.stringify(state)}; choose another checkpoint`,
  );
}
