import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { type DataConfig, dataConfigShape, type PromptOptions } from '../config/data-config.ts';
import type { RunConfig } from '../config/run-config.ts';
import {
  type DataFile,
  describeReasons,
  loadPrompts,
  type PromptDataset,
  type PromptRecord,
  type PromptReport,
  type RowReport,
} from '../data/index.ts';

/** The properties of a model that loading a run's data needs. */
export interface DataContext {
  readonly tokenizer: Tokenizer;
  /** Longest sequence of the model, in tokens. */
  readonly contextLength: number;
  /** Called with each file before it is read. */
  readonly onFile?: ((file: DataFile) => void) | undefined;
  /** JSON schemas of the functions of the run's environment. */
  readonly tools?: readonly object[] | undefined;
}

type PromptsConfig = DataConfig & Pick<RunConfig, 'seed' | 'maxNewTokens' | 'environment'>;

/** Loads the prompts of a PPO run. */
export function loadRunPrompts(
  config: PromptsConfig,
  { tokenizer, contextLength, onFile, tools }: DataContext,
): Promise<PromptDataset> {
  const { prompts, seed, maxNewTokens } = config;
  const { prompts: _, ...options } = pick(config, dataConfigShape);
  return loadPrompts(prompts, tokenizer, {
    ...(options as PromptOptions),
    // The turns of an episode are messages.
    ...(config.environment !== undefined && { chat: true }),
    tools,
    seed,
    maxNewTokens,
    contextLength,
    hub: { onFile },
  });
}

/** The prompts to evaluate a policy on: the validation prompts of its run, or all prompts of a file
 *  that replaces them. */
export async function loadHeldOutPrompts(
  config: PromptsConfig,
  { prompts, ...context }: DataContext & { readonly prompts?: string | undefined },
): Promise<readonly PromptRecord[]> {
  if (prompts === undefined) return (await loadRunPrompts(config, context)).validation;
  const { validationFile: _file, validationSplit: _split, ...rest } = config;
  return (await loadRunPrompts({ ...rest, prompts, validationFraction: 0 }, context)).train;
}

/** Says which prompts were left out or truncated and why, one sentence each.
 *  @example 2 of 7 dropped, 1 of them empty, the other of 900 tokens
 *    →  'Left out 2 of 7 prompts: 1 empty, 1 of more than 512 tokens (maxPromptTokens), up to 900; the first: p.jsonl line 3' */
export function describePrompts(report: PromptReport): string[] {
  const { kept, dropped, empty, repeated, droppedLongest, truncated, limit, examples } = report;
  const total = count(kept + dropped + repeated, 'prompt');
  // Without a limit no prompt is too long.
  const { maxTokens, reason } = limit ?? { maxTokens: Infinity, reason: '' };
  const limited = `${count(maxTokens, 'token')} (${reason})`;
  const tooLong = dropped - empty;
  const reasons = [
    ...(empty > 0 ? [`${empty} empty`] : []),
    ...(tooLong > 0 ? [`${tooLong} of more than ${limited}, up to ${droppedLongest}`] : []),
    ...(repeated > 0 ? [`${repeated} also in the validation set`] : []),
  ];
  const example = examples.length > 0 ? `; the first: ${examples[0]}` : '';
  const leftOut = `Left out ${dropped + repeated} of ${total}: ${reasons.join(', ')}${example}`;
  return [
    ...(reasons.length > 0 ? [leftOut] : []),
    ...(truncated > 0 ? [`Truncated ${truncated} of ${total} to the last ${limited}`] : []),
  ];
}

/** Says which rows were left out and why, one sentence per cause.
 *  @example 2 of 9 rows bad
 *    →  'Left out 2 of 9 rows: 1 too-long, 1 equal-sides; the first: Cannot use a.jsonl line 3: …' */
export function describeBadRows(report: RowReport): string[] {
  const { read, bad, repeated, examples } = report;
  const sentences: string[] = [];
  if (bad > 0) {
    const first = examples[0]!.message;
    sentences.push(
      `Left out ${bad} of ${count(read, 'row')}: ${describeReasons(report)}; the first: ${first}`,
    );
  }
  if (repeated > 0) {
    sentences.push(`Left out ${count(repeated, 'row')} whose prompts are in the validation set`);
  }
  return sentences;
}

/** @example 1, 'row'  →  '1 row'; 2, 'row'  →  '2 rows' */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The part of a config that a schema describes. */
export function pick<S extends object, K extends keyof S & string>(
  config: S,
  shape: Readonly<Record<K, unknown>>,
): Pick<S, K> {
  const keys = Object.keys(shape).filter((key) => key in config) as K[];
  return Object.fromEntries(keys.map((key) => [key, config[key]])) as Pick<S, K>;
}
