import { mapConcurrently } from './map-concurrently.ts';
import { messageOf, RewardError } from './reward-error.ts';
import type {
  RewardFunction,
  RewardSample,
  RewardSource,
  Score,
  ScoreContext,
} from './reward-source.ts';

export interface FunctionSourceOptions {
  /** The function's own name if not given; `reward` if it has none. */
  readonly name?: string | undefined;
  /** Milliseconds without a new score after which it counts as hung. */
  readonly timeout?: number | undefined;
  /** Calls of an asynchronous function that wait at once; 8 by default. */
  readonly concurrency?: number | undefined;
}

/** Scores from a function of one sample, synchronous or not. */
export class FunctionSource implements RewardSource {
  readonly name: string;
  readonly timeout: number | undefined;
  private readonly reward: RewardFunction;
  private readonly concurrency: number;

  constructor(reward: RewardFunction, options: FunctionSourceOptions = {}) {
    this.reward = reward;
    this.name = options.name ?? (givenName(reward) || 'reward');
    this.timeout = options.timeout;
    this.concurrency = options.concurrency ?? 8;
  }

  score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly Score[]> {
    const scoreOne = async (sample: RewardSample, index: number) => {
      try {
        return await this.reward(sample, { signal });
      } catch (cause) {
        throw new RewardError(
          `Cannot score sample ${index} with "${this.name}": ${messageOf(cause)}`,
          { cause },
        );
      } finally {
        onScored?.(index);
      }
    };
    return mapConcurrently(samples, scoreOne, { concurrency: this.concurrency, signal });
  }
}

/** A function's name, unless it is only the word `default` that modules give. */
export function givenName({ name }: { readonly name: string }): string {
  return /^_?default$/.test(name) ? '' : name;
}
