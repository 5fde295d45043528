import { describeThrown, quoteSample } from './describe-failure.ts';
import {
  RewardError,
  type RewardFunction,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
} from './reward-source.ts';

/** Name and limits of a reward function. */
export interface FunctionSourceOptions {
  /** The function's name by default; `reward` if it has none. */
  readonly name?: string | undefined;
  /** Seconds without a new score after which the function counts as hung. */
  readonly timeout?: number | undefined;
  /** Maximum number of pending calls of an asynchronous function; 8 by default. */
  readonly concurrency?: number | undefined;
}

/** Scores samples one by one with a function, synchronous or not. */
export class FunctionSource implements RewardSource {
  readonly name: string;
  readonly timeout: number | undefined;
  private readonly reward: RewardFunction;
  private readonly concurrency: number;

  constructor(reward: RewardFunction, options: FunctionSourceOptions = {}) {
    this.reward = reward;
    this.name = options.name ?? (ownName(reward) || 'reward');
    this.timeout = options.timeout;
    this.concurrency = options.concurrency ?? 8;
  }

  score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const scoreOne = async (sample: RewardSample, index: number) => {
      try {
        const score = this.reward(sample, { signal });
        // A synchronous score counts before the next sample starts, so that a hang is blamed on the right one.
        return isPromise(score) ? await score : score;
      } catch (cause) {
        throw new RewardError(
          `Cannot score sample ${index} with "${this.name}": ${describeThrown(cause)}; ${quoteSample(sample)}`,
          { cause },
        );
      } finally {
        onScored?.(index);
      }
    };
    return mapConcurrently(samples, scoreOne, { concurrency: this.concurrency, signal });
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function';
}

/** A function's name, unless it is `default`, which modules assign to unnamed exports. */
export function ownName({ name }: { readonly name: string }): string {
  return /^_?default$/.test(name) ? '' : name;
}

export interface ConcurrencyOptions {
  /** Maximum number of pending calls. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/** Maps items in order with limited concurrency; starts no new item after a throw or an abort. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R | Promise<R>,
  { concurrency, signal }: ConcurrencyOptions,
): Promise<R[]> {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`concurrency must be a whole number ≥ 1, got ${concurrency}`);
  }
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      signal.throwIfAborted();
      const index = next++;
      try {
        results[index] = await map(items[index]!, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = Math.min(concurrency, items.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}
