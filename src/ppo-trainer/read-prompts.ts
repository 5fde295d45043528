import type { PromptRecord } from '../data/index.ts';
import type { PPOComponents } from './components.ts';

/** A prompt as text, which is a user's message if there is an environment, or as a record of `loadPrompts` with the columns that rewards need. */
export type TrainPrompt = string | PromptRecord;

/** Tokens of all prompts; throws if a prompt leaves no room for a response. */
export function readPrompts(
  prompts: readonly TrainPrompt[],
  { model, config, episodes }: Pick<PPOComponents, 'model' | 'config' | 'episodes'>,
  action: 'train' | 'validate' | 'evaluate',
): PromptRecord[] {
  if (prompts.length === 0 && action !== 'validate') {
    throw new RangeError(`Cannot ${action}: there must be at least one prompt, got none`);
  }
  const { tokenizer, base } = model;
  const longest = base.architecture.config.max_position_embeddings - config.maxNewTokens;
  return prompts.map((prompt, i) => {
    const record =
      typeof prompt === 'string'
        ? (episodes?.promptOf(prompt) ?? {
            text: prompt,
            tokens: tokenizer.encode(prompt),
            row: {},
          })
        : prompt;
    const { length } = record.tokens;
    if (length >= 1 && length <= longest) return record;
    throw new RangeError(
      `Cannot ${action}: prompt ${i} must have 1 to ${longest} tokens, as the model's context also holds maxNewTokens (${config.maxNewTokens}), got ${length}; shorten it or lower maxNewTokens`,
    );
  });
}
