import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type PromptOptions,
  type ResolvedPromptOptions,
  resolvePromptOptions,
} from '../config/data-config.ts';
import { PromptFormatter, type PromptLimit, promptLimit, truncateLeft } from './prompt-format.ts';
import { nameOf, type RowSource, readRows } from './read-rows.ts';
import type { ResolveDatasetOptions } from './resolve-dataset.ts';
import { findValidation, splitPrompts } from './row-dataset.ts';

/** A prompt, formatted and encoded for the model. */
export interface PromptRecord {
  readonly text: string;
  readonly tokens: Int32Array;
  /** The conversation that `text` renders, if it is a chat. */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** All columns of its row, for reward sources. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** Counts of the rows that were read. */
export interface PromptReport {
  readonly kept: number;
  /** Prompts that were too long or empty. */
  readonly dropped: number;
  /** Dropped prompts without text. */
  readonly empty: number;
  /** Training prompts that were removed because they are in the validation data. */
  readonly repeated: number;
  /** Tokens of the longest dropped prompt; 0 if none was dropped. */
  readonly droppedLongest: number;
  /** Prompts of which only the last tokens were kept. */
  readonly truncated: number;
  /** The largest number of tokens in a prompt and the reason; undefined if there is no limit. */
  readonly limit: { readonly maxTokens: number; readonly reason: string } | undefined;
  /** Positions of the first dropped prompts. */
  readonly examples: readonly string[];
}

/** Prompts for PPO, split into train and validation. */
export interface PromptDataset {
  readonly train: readonly PromptRecord[];
  readonly validation: readonly PromptRecord[];
  readonly report: PromptReport;
}

/** Columns, limits and split of a prompt dataset. */
export interface LoadPromptsOptions extends PromptOptions {
  /** Seed of the split; 0 by default. */
  readonly seed?: number;
  /** Longest text of the model, in tokens. */
  readonly contextLength?: number;
  /** Most tokens of a response. */
  readonly maxNewTokens?: number;
  readonly hub?: Omit<ResolveDatasetOptions, 'split'>;
  /** Whether files of every format are parsed in a thread with limits; only .parquet and .gz by default. */
  readonly inSandbox?: boolean;
  /** JSON schemas of functions that the chat template describes, such as those of an environment. */
  readonly tools?: readonly object[] | undefined;
}

/** Reads prompts, formats them for the model, drops or truncates those that are too long, and
 *  splits off validation prompts. No text is on both sides. */
export async function loadPrompts(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadPromptsOptions = {},
): Promise<PromptDataset> {
  const { seed = 0, contextLength, maxNewTokens, hub = {}, tools, ...others } = options;
  const { inSandbox = false, ...fields } = others;
  const resolved = resolvePromptOptions(fields);
  const { maxPromptTokens, split, validationFraction: fraction } = resolved;
  const limit = promptLimit({ maxPromptTokens, contextLength, maxNewTokens });
  const context = { ...resolved, tokenizer, tools, limit, hub, inSandbox };
  const heldOut = await findValidation(source, resolved);
  const { records, report } = await collectPrompts(source, { ...context, split });
  if (heldOut === undefined) return { ...splitPrompts(records, { fraction, seed }), report };
  const other = await collectPrompts(heldOut.source, { ...context, split: heldOut.split });
  return holdOut({ records, report }, { ...other, name: nameOf(heldOut.source) });
}

interface Prompts {
  readonly records: readonly PromptRecord[];
  readonly report: PromptReport;
}

interface CollectOptions extends ResolvedPromptOptions {
  readonly tokenizer: Tokenizer;
  readonly limit: PromptLimit;
  readonly tools?: readonly object[] | undefined;
  readonly hub: Omit<ResolveDatasetOptions, 'split'>;
  readonly inSandbox: boolean;
}

async function collectPrompts(source: RowSource, options: CollectOptions): Promise<Prompts> {
  const { tokenizer, limit, hub, split, inSandbox } = options;
  const { maxPrompts = Infinity, truncatePrompts } = options;
  const { maxTokens, reason } = limit;
  let truncated = 0;
  const formatter = new PromptFormatter(options);
  const records: PromptRecord[] = [];
  const dropped: { readonly origin: string; readonly tokens: number }[] = [];
  for await (const row of readRows(source, { ...hub, split, inSandbox })) {
    const { text, isChat, messages } = formatter.format(row);
    const tokens = tokenizer.encode(text, { addSpecialTokens: !isChat });
    const isTruncated = tokens.length > maxTokens && truncatePrompts === 'left';
    const prompt = isTruncated
      ? truncateLeft({ tokens, isChat }, { tokenizer, maxTokens })
      : { text, tokens };
    const isEmpty = prompt.text.trim() === '';
    if (isEmpty || prompt.tokens.length > maxTokens) {
      dropped.push({ origin: row.origin, tokens: isEmpty ? 0 : tokens.length });
      continue;
    }
    if (isTruncated) truncated++;
    if (records.push({ ...prompt, ...(messages && { messages }), row: row.columns }) >= maxPrompts)
      break;
  }
  const lengths = dropped.map(({ tokens }) => tokens);
  if (records.length === 0) throw noPromptsError(source, { limit, lengths });
  const report: PromptReport = {
    kept: records.length,
    dropped: dropped.length,
    empty: lengths.filter((length) => length === 0).length,
    repeated: 0,
    droppedLongest: lengths.reduce((longest, length) => Math.max(longest, length), 0),
    truncated,
    limit: maxTokens === Infinity ? undefined : { maxTokens, reason },
    examples: dropped.slice(0, maxExamples).map(({ origin }) => origin),
  };
  return { records, report };
}

const maxExamples = 5;

function noPromptsError(
  source: RowSource,
  { limit, lengths }: { limit: PromptLimit; lengths: readonly number[] },
): RangeError {
  const tooLong = lengths.filter((length) => length > 0);
  const start = `Cannot use ${nameOf(source)}: prompts must have`;
  if (tooLong.length === 0) {
    return new RangeError(`${start} text, got ${lengths.length} empty ones; check promptColumn`);
  }
  const { maxTokens, reason, remedy } = limit;
  const shortest = tooLong.reduce((least, length) => Math.min(least, length));
  return new RangeError(
    `${start} at most ${maxTokens} tokens (${reason}), got ${shortest} in the shortest of ${tooLong.length}; ${remedy}, shorten them, or set truncatePrompts to left`,
  );
}

/** Removes the validation prompts from the training prompts. */
function holdOut(prompts: Prompts, held: Prompts & { readonly name: string }): PromptDataset {
  const texts = new Set(held.records.map(({ text }) => text));
  const train = prompts.records.filter(({ text }) => !texts.has(text));
  if (train.length === 0) {
    throw new RangeError(
      `Cannot train on these prompts: some must not be in the validation data ${held.name}, got none; use different validation prompts`,
    );
  }
  const [ours, theirs] = [prompts.report, held.report];
  const report: PromptReport = {
    kept: train.length + theirs.kept,
    dropped: ours.dropped + theirs.dropped,
    empty: ours.empty + theirs.empty,
    repeated: ours.kept - train.length,
    droppedLongest: Math.max(ours.droppedLongest, theirs.droppedLongest),
    truncated: ours.truncated + theirs.truncated,
    limit: ours.limit,
    examples: [...ours.examples, ...theirs.examples].slice(0, maxExamples),
  };
  return { train, validation: held.records, report };
}
