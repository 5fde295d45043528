import type { PPOConfig } from '../config/ppo-config.ts';

export type KlControllerConfig = Pick<
  PPOConfig,
  'klController' | 'klCoef' | 'klTarget' | 'klHorizon'
>;

/** What a checkpoint keeps of a controller. */
export interface KlControllerState {
  readonly coefficient: number;
}

const LARGEST_ERROR = 0.2;

/** Holds β, and steers it towards a KL if it is adaptive (arXiv:1909.08593). */
export class KlController {
  private readonly config: KlControllerConfig;
  private beta: number;

  constructor(config: KlControllerConfig) {
    this.config = config;
    this.beta = config.klCoef;
  }

  /** β as it is now. */
  get coefficient(): number {
    return this.beta;
  }

  /** Moves an adaptive β after n responses whose KL, summed over tokens, is this on average.
   *  β ← β(1 + clip(KL/target − 1, ±0.2)·n/horizon);  n/horizon counts as 1 at most, so β stays above 0
   *  @example β=0.1, target=6, horizon=100: KL=6.6, n=10  →  0.1·(1 + 0.1·0.1) = 0.101 */
  update(meanSequenceKl: number, n: number): void {
    if (this.config.klController === 'fixed') return;
    if (!Number.isFinite(meanSequenceKl) || !(n > 0)) {
      throw new RangeError(
        `Cannot update the KL coefficient: it needs a finite KL of at least one response, got ${meanSequenceKl} of ${n}`,
      );
    }
    const { klTarget, klHorizon } = this.config;
    const error = meanSequenceKl / klTarget - 1;
    const clipped = Math.min(Math.max(error, -LARGEST_ERROR), LARGEST_ERROR);
    this.beta *= 1 + clipped * Math.min(n / klHorizon, 1);
  }

  state(): KlControllerState {
    return { coefficient: this.beta };
  }

  /** Goes on from a saved state; a fixed β stays what the config says. */
  restore({ coefficient }: KlControllerState): void {
    if (!Number.isFinite(coefficient) || coefficient < 0) {
      throw new RangeError(
        `Cannot restore the KL coefficient: it must be a number ≥ 0, got ${coefficient}; restore what state() gave`,
      );
    }
    if (this.config.klController === 'adaptive') this.beta = coefficient;
  }
}
