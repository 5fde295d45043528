import { isDeepStrictEqual } from 'node:util';
import type { ChatMessage } from '../base-setup/tokenizer/index.ts';
import { type DataRow, kindOf } from './data-row.ts';
import { hasColumn, readNumber, rowError } from './row-columns.ts';

/** Probability that the chosen completion is better: 1 if there is no label, ½ for a tie.
 *  @example 'tie'  →  ½;  'chosen'  →  1;  0.8  →  0.8 */
export function readLabel(row: DataRow, column: string): number {
  const value = row.columns[column];
  if (!hasColumn(row, column) || value === '' || value === 'chosen') return 1;
  if (value === 'tie') return 0.5;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && number >= 0 && number <= 1) return number;
  const got = typeof value === 'object' ? kindOf(value) : JSON.stringify(value);
  throw rowError(row, {
    reason: 'out-of-range',
    problem: `"${column}" must be "chosen", "tie" or a probability from 0 to 1, got ${got}; set labelColumn if it means something else`,
  });
}

/** How much better the chosen completion is; 0 if missing and for a tie. */
export function readMargin(
  row: DataRow,
  { column, target }: { readonly column: string; readonly target: number },
): number {
  const margin = readNumber(row, column) ?? 0;
  if (margin === 0 || (margin > 0 && target !== 0.5)) return margin;
  const rule = target === 0.5 ? 'must be 0 in a tie' : 'must be ≥ 0';
  throw rowError(row, { reason: 'out-of-range', problem: `"${column}" ${rule}, got ${margin}` });
}

/** The index of the best completion. */
export function readBest(
  row: DataRow,
  { column, count }: { readonly column: string; readonly count: number },
): number {
  const best = readNumber(row, column);
  if (best !== undefined && Number.isInteger(best) && best >= 0 && best < count) return best;
  throw rowError(row, {
    reason: 'out-of-range',
    problem: `"${column}" must be the index of a completion, 0 to ${count - 1}, got ${best ?? 'nothing'}`,
  });
}

/** The indices of completions from best to worst, one list per rank.
 *  @example [2, [0, 1]]  →  [[2], [0, 1]] */
export function readRanking(
  row: DataRow,
  { column, count }: { readonly column: string; readonly count: number },
): readonly (readonly number[])[] {
  const value = row.columns[column];
  const ranks: unknown[][] = Array.isArray(value)
    ? value.map((entry) => (Array.isArray(entry) ? entry : [entry]))
    : [];
  const indices = new Set(ranks.flat());
  const isComplete = Array.from({ length: count }, (_, i) => i).every((i) => indices.has(i));
  if (isComplete && ranks.flat().length === count) return ranks as number[][];
  throw rowError(row, {
    reason: 'out-of-range',
    problem: `"${column}" must list the indices of all ${count} completions from best to worst, 0 to ${count - 1}, each once, got ${JSON.stringify(value)}`,
  });
}

/** A comparison of two completions of a prompt, by their indices from 0. */
export interface ComparedPair {
  readonly chosen: number;
  readonly rejected: number;
  /** Probability that the chosen one is better: 1, ½ for a tie. */
  readonly target: number;
  /** Weights of one prompt add up to 1. */
  readonly weight: number;
}

/** The best of n is better than each of the others; the others are not compared.
 *  weight = 1 / (n − 1)
 *  @example n=3, best=1  →  1 > 0 and 1 > 2, ½ each */
export function expandBest(best: number, count: number): ComparedPair[] {
  const others = Array.from({ length: count }, (_, i) => i).filter((i) => i !== best);
  const weight = 1 / others.length;
  return others.map((rejected) => ({ chosen: best, rejected, target: 1, weight }));
}

/** A ranking compares every pair: one is better, or they are equal.
 *  weight = 1 / (n(n − 1)/2)
 *  @param ranks indices of completions from best to worst, one list per rank
 *  @example [[2], [0, 1]]  →  2 > 0, 2 > 1 and 0 = 1 with target ½, ⅓ each */
export function expandRanking(ranks: readonly (readonly number[])[]): ComparedPair[] {
  const order = ranks.flatMap((indices, rank) => indices.map((index) => ({ index, rank })));
  const weight = 2 / (order.length * (order.length - 1));
  return order.flatMap((better, i) =>
    order.slice(i + 1).map((worse) => ({
      chosen: better.index,
      rejected: worse.index,
      target: better.rank === worse.rank ? 0.5 : 1,
      weight,
    })),
  );
}

export interface RatingScale {
  readonly min: number;
  readonly max: number;
}

/** Maps a rating to 0 … 1: (rating − min) / (max − min); undefined if it is outside the scale.
 *  @example 4 of 1 … 5  →  ¾;  6 of 1 … 5  →  undefined */
export function normalizeRating(rating: number, { min, max }: RatingScale): number | undefined {
  return rating >= min && rating <= max ? (rating - min) / (max - min) : undefined;
}

/** Two texts or conversations, split after their shared prefix. */
export interface SplitSides<T> {
  readonly prompt: T;
  readonly chosen: T;
  readonly rejected: T;
}

/** Opens the assistant's turns in Anthropic's HH dialogues. */
const assistantMark = '\n\nAssistant:';

/** Finds the prompt that two texts share: prompt + chosen and prompt + rejected are the texts.
 *
 *  In HH dialogues it ends with the last shared `\n\nAssistant:`. In other texts it ends at the last
 *  position in the shared prefix where both continue with white space, which belongs to the next
 *  word, or start a line, and have text left; it is empty if there is no such position.
 *  @example 'Q: 2 + 2?\nA: 4', 'Q: 2 + 2?\nA: 5'  →  'Q: 2 + 2?\nA:', ' 4', ' 5'
 *  @example 'The cat sat', 'The cat sits'          →  'The cat', ' sat', ' sits' */
export function splitTexts(chosen: string, rejected: string): SplitSides<string> {
  const common = commonLength(chosen, rejected);
  const mark = chosen.slice(0, common).lastIndexOf(assistantMark);
  const end = mark >= 0 ? mark + assistantMark.length : findBoundary(chosen, { rejected, common });
  return {
    prompt: chosen.slice(0, end),
    chosen: chosen.slice(end),
    rejected: rejected.slice(end),
  };
}

/** Finds the prompt that two conversations share: all shared messages up to the last that is not from
 *  the assistant.
 *  @example [u1, a1, u2, a2], [u1, a1, u2, b2]  →  [u1, a1, u2], [a2], [b2] */
export function splitConversations(
  chosen: readonly ChatMessage[],
  rejected: readonly ChatMessage[],
): SplitSides<readonly ChatMessage[]> {
  let end = 0;
  while (end < chosen.length && isDeepStrictEqual(chosen[end], rejected[end])) end++;
  while (end > 0 && chosen[end - 1]!.role === 'assistant') end--;
  return {
    prompt: chosen.slice(0, end),
    chosen: chosen.slice(end),
    rejected: rejected.slice(end),
  };
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a[i] === b[i]) i++;
  return i;
}

function findBoundary(
  chosen: string,
  { rejected, common }: { readonly rejected: string; readonly common: number },
): number {
  const isSpace = (character: string | undefined) =>
    character !== undefined && /\s/.test(character);
  let end = Math.min(common, chosen.length - 1, rejected.length - 1);
  for (; end > 0; end--) {
    if (chosen[end - 1] === '\n') return end;
    if (isSpace(chosen[end]) && isSpace(rejected[end])) return end;
  }
  return 0;
}
