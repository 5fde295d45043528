import type { PPOConfig } from '../config/ppo-config.ts';
import { groupByTokens } from '../models/token-batch.ts';
import type { RolloutSequence } from '../token-attribution/rollout.ts';
import type { Responses } from './responses.ts';

export type MicroBatchOptions = Pick<PPOConfig, 'microBatchSize' | 'maxTokensAtOnce'>;

/**
 * Indices of the sequences that run together: a number of them, or as many as fit memory. Responses
 * to one prompt are neighbours, since what they have in common is computed once; the order they come
 * in does not matter, so that every epoch cuts the same parts of the same sequences.
 * @example prompts 1, 0, 1 of 2 sequences at once  →  [1, 0], [2]
 */
export function microBatches(
  { sequences, offsets }: Pick<Responses, 'sequences' | 'offsets'>,
  { microBatchSize, maxTokensAtOnce }: MicroBatchOptions,
): number[][] {
  const order = sequences
    .map((_, i) => i)
    .sort((a, b) => compare(sequences[a]!, sequences[b]!) || a - b);
  const sizes = order.map((i, k) => {
    const { promptIdx, promptTokens } = sequences[i]!;
    const own = offsets[i + 1]! - offsets[i]!;
    const isFollower = k > 0 && sequences[order[k - 1]!]!.promptIdx === promptIdx;
    return { length: own + promptTokens.length, shared: isFollower ? promptTokens.length : 0 };
  });
  const groups =
    microBatchSize === undefined
      ? groupByTokens(sizes, maxTokensAtOnce)
      : Array.from({ length: Math.ceil(order.length / microBatchSize) }, (_, k) => ({
          start: k * microBatchSize,
          end: (k + 1) * microBatchSize,
        }));
  return groups.map(({ start, end }) => order.slice(start, end));
}

type Place = Pick<RolloutSequence, 'promptIdx' | 'sample'>;

function compare(a: Place, b: Place): number {
  return a.promptIdx - b.promptIdx || a.sample - b.sample;
}
