import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { type DataConfig, dataConfigShape, type PromptOptions } from '../config/data-config.ts';
import type { RunConfig } from '../config/run-config.ts';
import { loadPrompts, type PromptDataset, type PromptReport } from '../data/index.ts';

type PromptsConfig = DataConfig & Pick<RunConfig, 'seed' | 'maxNewTokens'>;

/** The prompts that a run's config names, for a model with this tokenizer and context. */
export function loadRunPrompts(
  config: PromptsConfig,
  { tokenizer, contextLength }: { tokenizer: Tokenizer; contextLength: number },
): Promise<PromptDataset> {
  const { prompts, seed, maxNewTokens } = config;
  const given = Object.entries(config).filter(
    ([key]) => key in dataConfigShape && key !== 'prompts',
  );
  const options: PromptOptions = Object.fromEntries(given);
  return loadPrompts(prompts, tokenizer, { ...options, seed, maxNewTokens, contextLength });
}

/** What became of prompts that are not used, in one sentence; undefined if all are.
 *  @example 2 dropped, 1 of them empty, the other of 900 tokens
 *    →  'Left out 2 prompts: 1 empty, 1 too long (up to 900 tokens), such as p.jsonl line 3' */
export function describeDropped(report: PromptReport): string | undefined {
  const { dropped, empty, repeated, droppedLongest, examples } = report;
  if (dropped + repeated === 0) return undefined;
  const tooLong = dropped - empty;
  const reasons = [
    ...(empty > 0 ? [`${empty} empty`] : []),
    ...(tooLong > 0 ? [`${tooLong} too long (up to ${droppedLongest} tokens)`] : []),
    ...(repeated > 0 ? [`${repeated} that validation has too`] : []),
  ];
  const count = dropped + repeated;
  const example = examples.length > 0 ? `, such as ${examples[0]}` : '';
  return `Left out ${count} ${count === 1 ? 'prompt' : 'prompts'}: ${reasons.join(', ')}${example}`;
}
