/** Sums over steps, which add up over the micro-batches of an optimiser step. */
export interface ValueSums {
  readonly valueLoss: number;
  /** Steps whose clipped term is strictly the larger loss. */
  readonly clipped: number;
  /** v */
  readonly value: number;
  /** (v − G)² */
  readonly squaredError: number;
}

/** Means over the steps of one or more optimiser steps, by TRL's names; the loss is without its coefficient.
 *  @example mse, v=[1, 3], G=[0, 4]  →  loss/value_avg 1, ppo/val/vpred 2, ppo/val/error 1 */
export function valueMetrics(sums: ValueSums, stepCount: number) {
  return {
    'loss/value_avg': sums.valueLoss / stepCount,
    'val/clipfrac_avg': sums.clipped / stepCount,
    'ppo/val/vpred': sums.value / stepCount,
    'ppo/val/error': sums.squaredError / stepCount,
  };
}
