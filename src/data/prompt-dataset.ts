import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type PromptOptions,
  type ResolvedPromptOptions,
  resolvePromptOptions,
} from '../config/data-config.ts';
import { findValidation } from './line-validation.ts';
import { PromptFormatter } from './prompt-format.ts';
import { type PromptLimit, promptLimit } from './prompt-limit.ts';
import { splitPrompts } from './prompt-split.ts';
import { nameOf, type RowSource, readRows } from './read-rows.ts';
import type { ResolveDatasetOptions } from './resolve-dataset.ts';

/** A prompt as the model takes it. */
export interface PromptRecord {
  readonly text: string;
  readonly tokens: Int32Array;
  /** All columns of its row, for reward sources. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** What became of the rows that were read. */
export interface PromptReport {
  readonly kept: number;
  /** Too long or empty. */
  readonly dropped: number;
  /** Those of them without text. */
  readonly empty: number;
  /** Prompts to train on that were taken out because validation has them too. */
  readonly repeated: number;
  /** Tokens of the longest that was dropped; 0 if none was. */
  readonly droppedLongest: number;
  /** Where the first that were dropped stand. */
  readonly examples: readonly string[];
}

export interface PromptDataset {
  readonly train: readonly PromptRecord[];
  readonly validation: readonly PromptRecord[];
  readonly report: PromptReport;
}

export interface LoadPromptsOptions extends PromptOptions {
  /** The same seed gives the same split; 0 by default. */
  readonly seed?: number;
  /** Longest text the model takes, in tokens. */
  readonly contextLength?: number;
  /** What a response may add to a prompt. */
  readonly maxNewTokens?: number;
  readonly hub?: Omit<ResolveDatasetOptions, 'split'>;
}

/** Reads prompts, gives them the form that the model takes, drops those too long for it, and sets
 *  some apart for validation. No text is on both sides. */
export async function loadPrompts(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadPromptsOptions = {},
): Promise<PromptDataset> {
  const { seed = 0, contextLength, maxNewTokens, hub = {}, ...given } = options;
  const resolved = resolvePromptOptions(given);
  const { maxPromptTokens, split, validationFraction: fraction } = resolved;
  const limit = promptLimit({ maxPromptTokens, contextLength, maxNewTokens });
  const context = { ...resolved, tokenizer, limit, hub };
  const held = await findValidation(source, resolved);
  const { records, report } = await collectPrompts(source, { ...context, split });
  if (held === undefined) return { ...splitPrompts(records, { fraction, seed }), report };
  const other = await collectPrompts(held.source, { ...context, split: held.split });
  return holdOut({ records, report }, { ...other, name: nameOf(held.source) });
}

interface Prompts {
  readonly records: readonly PromptRecord[];
  readonly report: PromptReport;
}

interface CollectOptions extends ResolvedPromptOptions {
  readonly tokenizer: Tokenizer;
  readonly limit: PromptLimit;
  readonly hub: Omit<ResolveDatasetOptions, 'split'>;
}

async function collectPrompts(source: RowSource, options: CollectOptions): Promise<Prompts> {
  const { tokenizer, limit, hub, split, maxPrompts = Infinity } = options;
  const formatter = new PromptFormatter(options);
  const records: PromptRecord[] = [];
  const dropped: { readonly origin: string; readonly tokens: number }[] = [];
  for await (const row of readRows(source, { ...hub, split })) {
    const { text, isChat } = formatter.format(row);
    const tokens = tokenizer.encode(text, { addSpecialTokens: !isChat });
    const isEmpty = text.trim() === '';
    if (isEmpty || tokens.length > limit.maxTokens) {
      dropped.push({ origin: row.origin, tokens: isEmpty ? 0 : tokens.length });
    } else if (records.push({ text, tokens, row: row.columns }) >= maxPrompts) break;
  }
  const lengths = dropped.map(({ tokens }) => tokens);
  if (records.length === 0) throw nothingLeft(source, { limit, lengths });
  const report: PromptReport = {
    kept: records.length,
    dropped: dropped.length,
    empty: lengths.filter((length) => length === 0).length,
    repeated: 0,
    droppedLongest: lengths.reduce((longest, length) => Math.max(longest, length), 0),
    examples: dropped.slice(0, maxExamples).map(({ origin }) => origin),
  };
  return { records, report };
}

const maxExamples = 5;

function nothingLeft(
  source: RowSource,
  { limit, lengths }: { limit: PromptLimit; lengths: readonly number[] },
): RangeError {
  const tooLong = lengths.filter((length) => length > 0);
  const start = `Cannot use ${nameOf(source)}: prompts must have`;
  if (tooLong.length === 0) {
    return new RangeError(`${start} text, got ${lengths.length} without; check promptColumn`);
  }
  const { maxTokens, reason, remedy } = limit;
  const least = tooLong.reduce((shortest, length) => Math.min(shortest, length));
  return new RangeError(
    `${start} at most ${maxTokens} tokens (${reason}), got ${least} in the shortest of ${tooLong.length}; ${remedy}, or shorten them`,
  );
}

/** Takes prompts to validate on out of those to train on. */
function holdOut(prompts: Prompts, held: Prompts & { readonly name: string }): PromptDataset {
  const texts = new Set(held.records.map(({ text }) => text));
  const train = prompts.records.filter(({ text }) => !texts.has(text));
  if (train.length === 0) {
    throw new RangeError(
      `Cannot train on these prompts: some must not be in ${held.name}, which is to validate on, got none; take other prompts to validate on, or leave them out`,
    );
  }
  const [ours, theirs] = [prompts.report, held.report];
  const report: PromptReport = {
    kept: train.length + theirs.kept,
    dropped: ours.dropped + theirs.dropped,
    empty: ours.empty + theirs.empty,
    repeated: ours.kept - train.length,
    droppedLongest: Math.max(ours.droppedLongest, theirs.droppedLongest),
    examples: [...ours.examples, ...theirs.examples].slice(0, maxExamples),
  };
  return { train, validation: held.records, report };
}
