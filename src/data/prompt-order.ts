import { randomStream } from '../engine/random/index.ts';

/** What determines the order of the prompts in one epoch. */
export interface EpochOrderOptions {
  readonly seed: number;
  /** From 0. */
  readonly epoch: number;
  /** Number of prompts. */
  readonly count: number;
  readonly shuffle: boolean;
}

/** The order of the prompts in an epoch: a permutation of 0 … count − 1.
 *  @example { seed: 0, epoch: 0, count: 3, shuffle: false }  →  [0, 1, 2] */
export function epochOrder({ seed, epoch, count, shuffle }: EpochOrderOptions): Int32Array {
  const indices = Array.from({ length: count }, (_, i) => i);
  if (!shuffle) return Int32Array.from(indices);
  return Int32Array.from(randomStream(seed, 'prompt-order', epoch).shuffle(indices));
}

/** What determines the prompts of each step of a run. */
export interface PromptOrderOptions extends Omit<EpochOrderOptions, 'epoch'> {
  /** Prompts per step. */
  readonly batchSize: number;
}

/** The prompts of each step of a run. They depend only on the step's number, so a resumed run needs
 *  no other state.
 *
 *  With n = ⌈count / batchSize⌉ steps per epoch, prompt i of step s, from 0, is
 *  order_⌊s / n⌋[((s mod n) · batchSize + i) mod count]:
 *  the last batch of an epoch is filled from the start of its order, and prompts repeat if there are
 *  fewer than batchSize.
 *  @example count 5, batchSize 2, no shuffle  →  [0, 1], [2, 3], [4, 0], [0, 1], …
 *  @example count 2, batchSize 5, no shuffle  →  [0, 1, 0, 1, 0], … */
export class PromptOrder {
  readonly stepsPerEpoch: number;
  private readonly options: PromptOrderOptions;
  private latest: { readonly epoch: number; readonly order: Int32Array } | undefined;

  constructor(options: PromptOrderOptions) {
    const { count, batchSize } = options;
    for (const [name, value] of Object.entries({ count, batchSize })) {
      if (Number.isSafeInteger(value) && value >= 1) continue;
      throw new RangeError(
        `Cannot order prompts: ${name} must be a whole number ≥ 1, got ${value}`,
      );
    }
    this.options = options;
    this.stepsPerEpoch = Math.ceil(count / batchSize);
  }

  /** The epoch of a step, both from 0. */
  epochAt(step: number): number {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new RangeError(
        `Cannot find the prompts of a step: it must be a whole number ≥ 0, got ${step}`,
      );
    }
    return Math.floor(step / this.stepsPerEpoch);
  }

  /** The indices of a step's prompts, [batchSize]. */
  batchAt(step: number): Int32Array {
    const { count, batchSize } = this.options;
    const order = this.orderOf(this.epochAt(step));
    const start = (step % this.stepsPerEpoch) * batchSize;
    return Int32Array.from({ length: batchSize }, (_, i) => order[(start + i) % count]!);
  }

  private orderOf(epoch: number): Int32Array {
    if (this.latest?.epoch !== epoch) {
      this.latest = { epoch, order: epochOrder({ ...this.options, epoch }) };
    }
    return this.latest.order;
  }
}
