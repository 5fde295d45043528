/** Sums over tokens, which add up over the micro-batches of an optimiser step. */
export interface PolicySums {
  /** Clipped losses, weighted so that their mean over tokens is the loss at either ratio level. */
  readonly policyLoss: number;
  /** β·KL_t of new and reference policy; 0 unless the KL stands in the loss. */
  readonly klLoss: number;
  /** Tokens whose clipped term is strictly the larger loss. */
  readonly clipped: number;
  /** ½(new − old)² */
  readonly approxKl: number;
  readonly entropy: number;
  readonly ratio: number;
  readonly squaredRatio: number;
}

/** Adds sums field by field. */
export function addSums<Sums extends { readonly [Name in keyof Sums]: number }>(
  a: Sums,
  b: Sums,
): Sums {
  const names = Object.keys(a) as (keyof Sums)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Sums;
}

/** Means over the tokens of one or more optimiser steps, by TRL's names.
 *  val/ratio_var = mean ρ² − (mean ρ)², over tokens
 *  @example two tokens with ρ = 1, 3  →  val/ratio 2, val/ratio_var 5 − 4 = 1 */
export function policyMetrics(sums: PolicySums, tokenCount: number) {
  const ratio = sums.ratio / tokenCount;
  return {
    'loss/policy_avg': sums.policyLoss / tokenCount,
    'loss/kl_avg': sums.klLoss / tokenCount,
    'policy/approxkl_avg': sums.approxKl / tokenCount,
    'policy/clipfrac_avg': sums.clipped / tokenCount,
    'policy/entropy_avg': sums.entropy / tokenCount,
    'val/ratio': ratio,
    // Rounding can take the difference of two nearly equal numbers below 0.
    'val/ratio_var': Math.max(0, sums.squaredRatio / tokenCount - ratio ** 2),
  };
}
