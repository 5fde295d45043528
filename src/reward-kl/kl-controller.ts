import type { PPOConfig } from '../config/ppo-config.ts';

/** The config fields that the KL controller reads. */
export type KlControllerConfig = Pick<
  PPOConfig,
  'klController' | 'klCoef' | 'klTarget' | 'klHorizon'
>;

/** State for a checkpoint. */
export interface KlControllerState {
  readonly coefficient: number;
}

const MAX_ERROR = 0.2;

/** Holds β, and adapts it towards a target KL if configured (arXiv:1909.08593). */
export class KlController {
  private readonly config: KlControllerConfig;
  private beta: number;

  constructor(config: KlControllerConfig) {
    this.config = config;
    this.beta = config.klCoef;
  }

  /** The current β. */
  get coefficient(): number {
    return this.beta;
  }

  /** Replaces β, such as by what a person chooses during a run; an adaptive one continues from it. */
  set(coefficient: number): void {
    if (!Number.isFinite(coefficient) || coefficient < 0) {
      throw new RangeError(
        `Cannot set the KL coefficient: it must be a number ≥ 0, got ${coefficient}`,
      );
    }
    this.beta = coefficient;
  }

  /** Updates an adaptive β after n responses with this mean KL, summed over tokens.
   *  β ← β(1 + clip(KL/target − 1, ±0.2)·n/horizon);  n/horizon is at most 1, so β stays positive
   *  @example β=0.1, target=6, horizon=100: KL=6.6, n=10  →  0.1·(1 + 0.1·0.1) = 0.101 */
  update(meanSequenceKl: number, n: number): void {
    if (this.config.klController === 'fixed') return;
    if (!Number.isFinite(meanSequenceKl) || !(n > 0)) {
      throw new RangeError(
        `Cannot update the KL coefficient: the KL must be finite and of at least one response, got ${meanSequenceKl} of ${n}`,
      );
    }
    const { klTarget, klHorizon } = this.config;
    const error = meanSequenceKl / klTarget - 1;
    const clipped = Math.min(Math.max(error, -MAX_ERROR), MAX_ERROR);
    this.beta *= 1 + clipped * Math.min(n / klHorizon, 1);
  }

  /** The state for a checkpoint. */
  state(): KlControllerState {
    return { coefficient: this.beta };
  }

  /** Restores a saved state; a fixed β stays as configured. */
  restore({ coefficient }: KlControllerState): void {
    if (!Number.isFinite(coefficient) || coefficient < 0) {
      throw new RangeError(
        `Cannot restore the KL coefficient: it must be a number ≥ 0, got ${coefficient}; restore what state() returned`,
      );
    }
    if (this.config.klController === 'adaptive') this.beta = coefficient;
  }
}
