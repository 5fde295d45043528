import { isDeepStrictEqual } from 'node:util';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type PreferenceOptions,
  type ResolvedPreferenceOptions,
  resolvePreferenceOptions,
} from '../config/preference-config.ts';
import {
  emptyError,
  encodeAfter,
  endWithEos,
  expectEos,
  type RenderedRow,
  renderRow,
} from './completion-render.ts';
import type { DataRow } from './data-row.ts';
import { type Judgement, JudgementReader } from './preference-judgement.ts';
import type { RowSource } from './read-rows.ts';
import { rowError, type Turn } from './row-columns.ts';
import { type LoadRowsContext, loadRows, type RowReport } from './row-dataset.ts';

/** Two completions of a prompt, one of which is preferred. */
export interface PreferencePair {
  readonly promptText: string;
  readonly chosenText: string;
  readonly rejectedText: string;
  readonly promptTokens: Int32Array;
  readonly chosenTokens: Int32Array;
  readonly rejectedTokens: Int32Array;
  /** How much better the chosen one is, ≥ 0; 0 if unknown. */
  readonly margin: number;
  /** Probability that the chosen one is better: 1, ½ for a tie. */
  readonly target: number;
  /** The weights of a row's pairs add up to 1. */
  readonly weight: number;
}

/** A completion of a prompt with its rating. */
export interface RatedCompletion {
  readonly promptText: string;
  readonly text: string;
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  /** From 0 (worst) to 1 (best). */
  readonly rating: number;
}

/** The preferences of one row: pairs, or a rating. */
export interface PreferenceGroup {
  readonly promptText: string;
  readonly promptTokens: Int32Array;
  /** 1 for a pair, n − 1 for the best of n, n(n − 1)/2 for a ranking. */
  readonly pairs: readonly PreferencePair[];
  readonly ratings: readonly RatedCompletion[];
  /** Position of the row, such as `pairs.jsonl line 7`. */
  readonly origin: string;
}

export interface PreferenceReport extends RowReport {
  readonly pairs: number;
  /** Pairs in which neither is better. */
  readonly ties: number;
  readonly ratings: number;
}

/** Ranked responses for reward model training, split into train and validation. */
export interface PreferenceDataset {
  readonly train: readonly PreferenceGroup[];
  readonly validation: readonly PreferenceGroup[];
  readonly report: PreferenceReport;
}

/** Columns, limits and split of a preference dataset. */
export interface LoadPreferencesOptions extends PreferenceOptions, LoadRowsContext {}

/** Reads preferences: pairs with or without a prompt column, the best of several, rankings or
 *  ratings, of texts or of messages. No prompt is on both sides of the split, and every unusable row
 *  is counted in the report. */
export async function loadPreferences(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadPreferencesOptions = {},
): Promise<PreferenceDataset> {
  const { seed = 0, contextLength = Infinity, hub = {}, ...fields } = options;
  const resolved = resolvePreferenceOptions(fields);
  if (resolved.appendEos) expectEos(tokenizer);
  const maxTokens = Math.min(resolved.maxTokens ?? Infinity, contextLength);
  const { train, validation, report } = await loadRows(source, {
    ...resolved,
    seed,
    hub,
    openReader: () => {
      const reader = new JudgementReader(resolved);
      const encoding = { ...resolved, tokenizer, maxTokens };
      return (row) => toGroup(reader.read(row), { ...encoding, row });
    },
    keyOf: ({ promptText }: PreferenceGroup) => promptText,
  });
  const groups = [...train, ...validation];
  const pairs = groups.flatMap((group) => group.pairs);
  const ratings = groups.reduce((sum, group) => sum + group.ratings.length, 0);
  const ties = pairs.filter(({ target }) => target === 0.5).length;
  return { train, validation, report: { ...report, pairs: pairs.length, ties, ratings } };
}

interface GroupOptions
  extends Pick<ResolvedPreferenceOptions, 'chat' | 'systemPrompt' | 'appendEos'> {
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
  readonly row: DataRow;
}

function toGroup(judgement: Judgement, options: GroupOptions): PreferenceGroup {
  const { origin } = options.row;
  // Checked first, because two equal texts without a prompt are better reported as equal.
  expectDifferent(judgement.completions, { judgement, row: options.row });
  const rendered = renderRow(judgement, { ...options, origin });
  const { promptText, completionTexts: texts } = rendered;
  expectDifferent(texts, { judgement, row: options.row });
  const { promptTokens, completionTokens: tokens } = encodeRow(rendered, options);
  const prompt = { promptText, promptTokens };
  const pairs = judgement.pairs.map(({ chosen, rejected, margin, target, weight }) => ({
    ...prompt,
    chosenText: texts[chosen]!,
    rejectedText: texts[rejected]!,
    chosenTokens: tokens[chosen]!,
    rejectedTokens: tokens[rejected]!,
    margin,
    target,
    weight,
  }));
  const { rating } = judgement;
  const ratings =
    rating === undefined ? [] : [{ ...prompt, text: texts[0]!, tokens: tokens[0]!, rating }];
  return { ...prompt, pairs, ratings, origin };
}

function expectDifferent(
  completions: readonly Turn[],
  { judgement, row }: { readonly judgement: Judgement; readonly row: DataRow },
): void {
  const equal = judgement.pairs.find(({ chosen, rejected }) =>
    isDeepStrictEqual(completions[chosen], completions[rejected]),
  );
  if (equal === undefined) return;
  const { chosen, rejected } = equal;
  const where = completions.length > 2 ? `at indices ${chosen} and ${rejected}` : 'twice';
  throw rowError(row, {
    reason: 'equal-sides',
    problem: `completions that are compared must differ, got the same ${where}`,
  });
}

/** Rows that are too long are rejected: a truncated completion was not judged. */
function encodeRow(
  { promptText, completionTexts, isChat }: RenderedRow,
  { tokenizer, appendEos, maxTokens, row }: GroupOptions,
): { promptTokens: Int32Array; completionTokens: readonly Int32Array[] } {
  const promptTokens = tokenizer.encode(promptText, { addSpecialTokens: !isChat });
  const completionTokens = completionTexts.map((text) => {
    const tokens = encodeAfter(promptText, text, { tokenizer });
    if (tokens.length === 0) throw emptyError('completion', row.origin);
    return appendEos ? endWithEos(tokens, tokenizer) : tokens;
  });
  const longest = Math.max(...completionTokens.map(({ length }) => length));
  const length = promptTokens.length + longest;
  if (length <= maxTokens) return { promptTokens, completionTokens };
  throw rowError(row, {
    reason: 'too-long',
    problem: `prompt and completion must have at most ${maxTokens} tokens, got ${length}`,
  });
}
