import type { RandomStream } from '../engine/random/index.ts';

/**
 * The order in which a pass takes every sequence once: `shuffled`, `sequential`, or `by-length`, which
 * puts sequences of similar length together, so that attention pads less, and shuffles the batches.
 */
export type PassStrategy = 'shuffled' | 'sequential' | 'by-length';

export interface SamplingPassOptions {
  readonly strategy: PassStrategy;
  readonly random: RandomStream;
}

/** One pass over sequences of the given lengths, which takes each exactly once. */
export class SamplingPass {
  private readonly options: SamplingPassOptions;
  private readonly remaining: number[];

  constructor(lengths: readonly number[], options: SamplingPassOptions) {
    this.options = options;
    this.remaining = orderOf(lengths, options);
  }

  get isDone(): boolean {
    return this.remaining.length === 0;
  }

  /** The next batch; the last one, or with `by-length` that of the longest, may be smaller. */
  take(size: number): number[] {
    const { strategy, random } = this.options;
    const batches = Math.ceil(this.remaining.length / size);
    const start = strategy === 'by-length' && batches > 0 ? size * random.integer(batches) : 0;
    return this.remaining.splice(start, size);
  }
}

function orderOf(lengths: readonly number[], { strategy, random }: SamplingPassOptions): number[] {
  const indices = lengths.map((_, i) => i);
  if (strategy === 'sequential') return indices;
  const shuffled = random.shuffle(indices);
  // The sort is stable, so sequences of equal length stay shuffled.
  return strategy === 'by-length' ? shuffled.sort((a, b) => lengths[a]! - lengths[b]!) : shuffled;
}
