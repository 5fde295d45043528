import { isDeepStrictEqual } from 'node:util';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type PreferenceOptions,
  type ResolvedPreferenceOptions,
  resolvePreferenceOptions,
} from '../config/preference-config.ts';
import { emptyFault, type RenderedRow, renderRow } from './completion-render.ts';
import { encodeAfter, endWithEos, expectEos } from './completion-tokens.ts';
import type { DataRow } from './data-row.ts';
import type { Turn } from './line-chat.ts';
import { rowFault } from './line-columns.ts';
import { type LoadLinesContext, loadLines } from './line-dataset.ts';
import type { RowReport } from './line-report.ts';
import { type Judgement, JudgementReader } from './preference-judgement.ts';
import type { RowSource } from './read-rows.ts';

/** Two completions of a prompt, one of which people prefer. */
export interface PreferencePair {
  readonly promptText: string;
  readonly chosenText: string;
  readonly rejectedText: string;
  readonly promptTokens: Int32Array;
  readonly chosenTokens: Int32Array;
  readonly rejectedTokens: Int32Array;
  /** How much better the chosen one is, ≥ 0; 0 if nobody said. */
  readonly margin: number;
  /** Probability that the chosen one is better: 1, ½ for a tie. */
  readonly target: number;
  /** Part of its row, whose pairs have 1 together. */
  readonly weight: number;
}

/** A completion of a prompt with people's rating of it. */
export interface RatedCompletion {
  readonly promptText: string;
  readonly text: string;
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  /** 0 is the worst of the scale, 1 the best. */
  readonly rating: number;
}

/** What one row says: pairs, or a rating. */
export interface PreferenceGroup {
  readonly promptText: string;
  readonly promptTokens: Int32Array;
  /** One of a pair, n − 1 of the best of n, n(n − 1)/2 of a ranking. */
  readonly pairs: readonly PreferencePair[];
  readonly ratings: readonly RatedCompletion[];
  /** Where the row stands: `pairs.jsonl line 7`. */
  readonly origin: string;
}

export interface PreferenceReport extends RowReport {
  readonly pairs: number;
  /** Those of them where neither is better. */
  readonly ties: number;
  readonly ratings: number;
}

export interface PreferenceDataset {
  readonly train: readonly PreferenceGroup[];
  readonly validation: readonly PreferenceGroup[];
  readonly report: PreferenceReport;
}

export interface LoadPreferencesOptions extends PreferenceOptions, LoadLinesContext {}

/** Reads what people prefer: pairs with or without a prompt column, the best of several, rankings
 *  or ratings, of texts or of messages. No prompt is on both sides of the split, and every row that
 *  cannot be used is counted in the report. */
export async function loadPreferences(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadPreferencesOptions = {},
): Promise<PreferenceDataset> {
  const { seed = 0, contextLength = Infinity, hub = {}, ...given } = options;
  const resolved = resolvePreferenceOptions(given);
  if (resolved.appendEos) expectEos(tokenizer);
  const maxTokens = Math.min(resolved.maxTokens ?? Infinity, contextLength);
  const { train, validation, report } = await loadLines(source, {
    ...resolved,
    seed,
    hub,
    openReader: () => {
      const reader = new JudgementReader(resolved);
      const encoding = { ...resolved, tokenizer, maxTokens };
      return (row) => makeGroup(reader.read(row), { ...encoding, row });
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

function makeGroup(judgement: Judgement, options: GroupOptions): PreferenceGroup {
  const { origin } = options.row;
  // Before a prompt is missed: two equal texts need not have one.
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
  const places = completions.length > 2 ? `in places ${chosen} and ${rejected}` : 'twice';
  throw rowFault(row, {
    reason: 'equal-sides',
    fault: `completions that are compared must differ, got the same ${places}`,
  });
}

/** Too long is too long: a completion that is cut is not the one that was judged. */
function encodeRow(
  { promptText, completionTexts, isChat }: RenderedRow,
  { tokenizer, appendEos, maxTokens, row }: GroupOptions,
): { promptTokens: Int32Array; completionTokens: readonly Int32Array[] } {
  const promptTokens = tokenizer.encode(promptText, { addSpecialTokens: !isChat });
  const completionTokens = completionTexts.map((text) => {
    const tokens = encodeAfter(promptText, text, { tokenizer });
    if (tokens.length === 0) throw emptyFault('completion', row.origin);
    return appendEos ? endWithEos(tokens, tokenizer) : tokens;
  });
  const longest = Math.max(...completionTokens.map(({ length }) => length));
  const length = promptTokens.length + longest;
  if (length <= maxTokens) return { promptTokens, completionTokens };
  throw rowFault(row, {
    reason: 'too-long',
    fault: `prompt and completion must have at most ${maxTokens} tokens, got ${length}`,
  });
}
