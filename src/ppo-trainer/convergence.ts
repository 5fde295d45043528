import { z } from 'zod';
import type { TrainingConfig } from '../config/training-config.ts';
import type { Convergence, Performance } from '../loop/evaluation-report.ts';
import type { StopReason } from '../loop/records.ts';

export type ConvergenceConfig = Pick<
  TrainingConfig,
  | 'minEntropy'
  | 'maxRepetition'
  | 'maxKl'
  | 'maxDegradation'
  | 'plateauPatience'
  | 'plateauDelta'
  | 'stopOnCollapse'
>;

/** A rule that holds, and a message about it. */
interface Finding {
  readonly reason: StopReason;
  readonly message: string;
}

/**
 * Watches evaluations and decides whether training should continue. The first rule that holds counts:
 *
 * - collapsed: entropy < minEntropy, or repetition > maxRepetition and > that of the first evaluation
 * - diverged: KL > maxKl
 * - degraded: best − reward > maxDegradation · SE
 * - converged: no reward > that of the last rise + plateauDelta · SE in plateauPatience evaluations
 *
 * The first three are faults: they stop training if stopOnCollapse says so, and warn otherwise. A
 * fault that stops is no improvement, since a policy often breaks by finding a hole in the reward.
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
    this.memory = {
      firstRepetition: firstRepetition ?? performance.repetition,
      best: performanceImproved ? markOf(performance) : best,
      ...this.followRise(performance, stopsForFault),
    };
    const plateau = this.findPlateau();
    const stop = stopsForFault ? fault.reason : plateau?.reason;
    const message = this.describe(fault, plateau) ?? describeReward(performance.reward, best);
    return { converged: stop === 'converged', performanceImproved, stop, message };
  }

  /** The state for a checkpoint. */
  state(): ConvergenceState {
    return this.memory;
  }

  /** Restores a saved state. */
  restore(state: unknown): void {
    this.memory = readConvergenceState(state);
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

  /** A single response has no standard error, so its drop may be chance. */
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

  /** Small rises add up: the mark stays at the last rise that counted. */
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

  private describe(fault: Finding | undefined, plateau: Finding | undefined): string | undefined {
    if (fault === undefined) return plateau?.message;
    if (this.config.stopOnCollapse) return fault.message;
    const course = plateau?.message.replace(/^T/, 't');
    return `${fault.message}; ${course ?? 'training continues because stopOnCollapse is false'}`;
  }
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

/** Any finite reward is higher than no mark. */
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

/** Rounds to four significant digits. */
function show(value: number): string {
  return String(Number(value.toPrecision(4)));
}

const markSchema = z.strictObject({
  reward: z.number(),
  rewardStd: z.number(),
  responses: z.int().min(1),
});

const stateSchema = z.strictObject({
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
