import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { type DataConfig, dataConfigShape, type PromptOptions } from '../config/data-config.ts';
import type { RunConfig } from '../config/run-config.ts';
import {
  describeReasons,
  loadPrompts,
  type PromptDataset,
  type PromptReport,
  type RowReport,
} from '../data/index.ts';

/** What loading a run's data needs to know about its model. */
export interface DataContext {
  readonly tokenizer: Tokenizer;
  /** Longest sequence of the model, in tokens. */
  readonly contextLength: number;
}

type PromptsConfig = DataConfig & Pick<RunConfig, 'seed' | 'maxNewTokens'>;

/** Loads the prompts of a PPO run. */
export function loadRunPrompts(
  config: PromptsConfig,
  { tokenizer, contextLength }: DataContext,
): Promise<PromptDataset> {
  const { prompts, seed, maxNewTokens } = config;
  const { prompts: _, ...options } = pick(config, dataConfigShape);
  return loadPrompts(prompts, tokenizer, {
    ...(options as PromptOptions),
    seed,
    maxNewTokens,
    contextLength,
  });
}

/** Says which prompts were left out and why; undefined if all are used.
 *  @example 2 dropped, 1 of them empty, the other of 900 tokens
 *    →  'Left out 2 prompts: 1 empty, 1 too long (up to 900 tokens), such as p.jsonl line 3' */
export function describeDropped(report: PromptReport): string | undefined {
  const { dropped, empty, repeated, droppedLongest, examples } = report;
  if (dropped + repeated === 0) return undefined;
  const tooLong = dropped - empty;
  const reasons = [
    ...(empty > 0 ? [`${empty} empty`] : []),
    ...(tooLong > 0 ? [`${tooLong} too long (up to ${droppedLongest} tokens)`] : []),
    ...(repeated > 0 ? [`${repeated} also in the validation set`] : []),
  ];
  const example = examples.length > 0 ? `, such as ${examples[0]}` : '';
  return `Left out ${count(dropped + repeated, 'prompt')}: ${reasons.join(', ')}${example}`;
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
