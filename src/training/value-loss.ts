import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';

export type ValueLossConfig = Pick<PPOConfig, 'valueLoss' | 'valueClip' | 'valueLossCoef'>;

/** Values and returns of some sequences of an optimiser step, as columns of steps. */
export interface ValueLossInput {
  /** v, [S] */
  readonly newValues: Float32Array;
  /** v_old, [S] */
  readonly oldValues: Float32Array;
  /** G, [S] */
  readonly returns: Float32Array;
  /** Steps of the whole optimiser step. */
  readonly stepCount: number;
}

/** The value loss and its gradient. */
export interface ValueLossResult {
  /** This part's share of the step's loss, without valueLossCoef: parts add up to the whole. */
  readonly loss: number;
  /** valueLossCoef · ∂loss/∂newValues, [S]. */
  readonly dValues: Float32Array;
  readonly sums: ValueSums;
}

/**
 * The value model's loss and its gradient with respect to the new values, on the host.
 *
 * `mse`: L = mean (v − G)²;  `clipped`: L = ½ mean max((v − G)², (clip(v, v_old ± c) − G)²).
 * The coefficient scales only the gradient, so that losses of different runs can be compared.
 */
export class ValueLoss {
  private readonly config: ValueLossConfig;

  constructor(config: ValueLossConfig) {
    this.config = config;
  }

  /** The plain loss: mean (v − G)².
   *  @example v=[1, 3], G=[0, 1]  →  (1 + 4)/2 = 2.5 */
  computeLoss(predictedValues: ArrayLike<number>, targetValues: ArrayLike<number>): number {
    const stepCount = predictedValues.length;
    if (stepCount === 0) {
      throw new RangeError(
        'Cannot compute the value loss: predictedValues must have at least 1 element, got 0',
      );
    }
    const newValues = Float32Array.from(predictedValues);
    const returns = Float32Array.from(targetValues);
    const mse = new ValueLoss({ ...this.config, valueLoss: 'mse' });
    return mse.evaluate({ newValues, oldValues: newValues, returns, stepCount }).loss;
  }

  /** Loss, gradient and sums of some sequences of an optimiser step.
   *  @example mse, coefficient ½, v=[1, 3], G=[0, 1], 2 steps  →  loss 2.5, dValues ½·[2, 4]/2 = [½, 1]
   *  @example clipped, c=½, coefficient 1, v=[1, 3], v_old=[2, 3], G=[0, 1], 2 steps
   *           →  clip(v)=[1.5, 3], loss ½·(1.5² + 2²)/2 = 1.5625, dValues [0, 2]/2 = [0, 1] */
  evaluate(input: ValueLossInput): ValueLossResult {
    const { newValues, oldValues, returns, stepCount } = input;
    const { length } = newValues;
    expectLengths({ oldValues, returns }, { action: 'compute the value loss', length });
    if (length > stepCount) {
      throw new Error(`Internal: ${length} values are not part of ${stepCount} steps`);
    }
    const dValues = new Float32Array(length);
    const sums = { valueLoss: 0, clipped: 0, value: 0, squaredError: 0 };
    for (let t = 0; t < length; t++) {
      const [v, G] = [newValues[t]!, returns[t]!];
      const { loss, slope, clipped } = this.lossAt(v, { old: oldValues[t]!, G });
      dValues[t] = (this.config.valueLossCoef * slope) / stepCount;
      sums.valueLoss += loss;
      sums.clipped += Number(clipped);
      sums.value += v;
      sums.squaredError += (v - G) ** 2;
    }
    return { loss: sums.valueLoss / stepCount, dValues, sums };
  }

  /** Whether `valueSlopes` are the gradient of the loss; a subclass may compute another one. */
  get hasValueSlopes(): boolean {
    return this.evaluate === ValueLoss.prototype.evaluate;
  }

  /** The gradient of each step as a function of its new value, if `hasValueSlopes`. */
  valueSlopes(input: Omit<ValueLossInput, 'newValues'>): ValueSlopes {
    const { valueLoss, valueClip, valueLossCoef } = this.config;
    const { oldValues, returns, stepCount } = input;
    const ranges = Array.from(returns, (G, t): readonly [number, number] =>
      valueLoss === 'mse' ? [0, 0] : flatRange(G, { old: oldValues[t]!, c: valueClip }),
    );
    return {
      factor: ((valueLoss === 'mse' ? 2 : 1) * valueLossCoef) / stepCount,
      returns,
      lows: Float32Array.from(ranges, ([low]) => low),
      highs: Float32Array.from(ranges, ([, high]) => high),
    };
  }

  /** The loss at one step, with its derivative with respect to v, and whether the clipped term is strictly larger. */
  private lossAt(v: number, { old, G }: { readonly old: number; readonly G: number }) {
    const { valueLoss, valueClip: c } = this.config;
    if (valueLoss === 'mse') return { loss: (v - G) ** 2, slope: 2 * (v - G), clipped: false };
    const plain = (v - G) ** 2;
    const cut = (Math.min(Math.max(v, old - c), old + c) - G) ** 2;
    // Where the two differ, v is outside its range, so the clipped term does not depend on it.
    if (cut > plain) return { loss: 0.5 * cut, slope: 0, clipped: true };
    return { loss: 0.5 * plain, slope: v - G, clipped: false };
  }
}

/** ∂L/∂v of each step as a function of the new value v: factor·(v − G), but 0 if low < v < high. */
export interface ValueSlopes {
  readonly factor: number;
  readonly returns: Float32Array;
  readonly lows: Float32Array;
  readonly highs: Float32Array;
}

/** The values at which the clipped loss has no gradient: beyond the edge of v_old ± c that is next to G,
 *  and closer to G than that edge; empty if G is within the range.
 *  @example v_old=2, c=½, G=0  →  −1.5 to 1.5;  G=2.2  →  0 to 0 */
function flatRange(
  G: number,
  { old, c }: { readonly old: number; readonly c: number },
): readonly [low: number, high: number] {
  const edge = Math.min(Math.max(G, old - c), old + c);
  if (edge === G) return [0, 0];
  return edge < G ? [edge, 2 * G - edge] : [2 * G - edge, edge];
}

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
