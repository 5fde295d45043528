import type { PPOConfig } from '../config/ppo-config.ts';

/** Whether a variance divides by n or by n − 1. */
export type Variance = PPOConfig['whitening'];

export interface WhitenOptions {
  readonly variance: Variance;
  /** Whether the mean becomes 0 or stays the same. */
  readonly shiftMean: boolean;
}

/** Mean and variance, accumulated in float64.
 *  μ = Σx/n;  biased: σ² = Σ(x − μ)²/n;  unbiased: σ² = Σ(x − μ)²/(n − 1), 0 for one number
 *  @example [1, 3]  →  μ = 2, σ² = 1 (biased) or 2 (unbiased) */
export function moments(
  x: ArrayLike<number>,
  kind: Variance,
): { readonly mean: number; readonly variance: number } {
  const n = x.length;
  if (n === 0) return { mean: 0, variance: 0 };
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[i]!;
  const mean = sum / n;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (x[i]! - mean) ** 2;
  return { mean, variance: squares / (kind === 'biased' ? n : Math.max(1, n - 1)) };
}

/** The parameters of whitening, x′ = (x − mean)/std. */
export interface Whitening {
  readonly mean: number;
  readonly std: number;
}

/** Mean and standard deviation for whitening: std = √(σ² + 1e-8).
 *  @example [1, 3], biased  →  mean 2, std √(1 + 1e-8) */
export function whiteningOf(x: ArrayLike<number>, kind: Variance): Whitening {
  const { mean, variance } = moments(x, kind);
  return { mean, std: Math.sqrt(variance + 1e-8) };
}

/** Whitens numbers with a known mean and standard deviation.
 *  x′ = (x − mean)/std, plus mean unless shiftMean
 *  @example [1, 5], mean 1, std 2  →  [0, 2] with shiftMean, [1, 3] without */
export function whitenWith(
  values: Float32Array,
  { mean, std, shiftMean }: Whitening & Pick<WhitenOptions, 'shiftMean'>,
): Float32Array {
  const offset = shiftMean ? 0 : mean;
  return values.map((x) => (x - mean) / std + offset);
}

/** Returns numbers scaled to standard deviation 1, with mean 0 or their own mean.
 *  x′ = (x − μ)/√(σ² + 1e-8), plus μ unless shiftMean
 *  A single number has σ² = 0: it becomes 0, or is unchanged without shiftMean.
 *  @example [1, 3], biased  →  [−1, 1] with shiftMean, [1, 3] without
 *  @example [1, 3], unbiased  →  [−0.7071, 0.7071] with shiftMean */
export function whiten(
  values: Float32Array,
  { variance: kind, shiftMean }: WhitenOptions,
): Float32Array {
  return whitenWith(values, { ...whiteningOf(values, kind), shiftMean });
}
