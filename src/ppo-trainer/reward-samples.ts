import type { PromptRecord } from '../data/index.ts';
import type { RewardSample } from '../reward-kl/index.ts';
import type { Rollout } from '../token-attribution/index.ts';

/** The responses of a rollout as reward sources see them. */
export function rewardSamples(
  { sequences, offsets, tokens }: Rollout,
  prompts: readonly PromptRecord[],
): RewardSample[] {
  return sequences.map((sequence, i) => ({
    prompt: sequence.promptText,
    response: sequence.text,
    promptTokens: sequence.promptTokens,
    tokens: tokens.subarray(offsets[i]!, offsets[i + 1]!),
    finished: sequence.finished,
    promptIdx: sequence.promptIdx,
    sample: sequence.sample,
    row: prompts[sequence.promptIdx]!.row,
  }));
}
