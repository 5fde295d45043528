import { isKnownPair, isKnownWord, pairsOf } from './known-pairs.ts';
import { keyOf } from './phrase.ts';
import type { Post } from './post.ts';
import { type Piece, readPieces } from './read-pieces.ts';

export interface GoldScore {
  /** From 0 to 1. */
  readonly score: number;
  /** Part of the key facts that the summary tells. */
  readonly coverage: number;
  /** 1 for a summary of good length, down to 0 for one that is far too long. */
  readonly brevity: number;
  /** Number of different things it tells that are not key facts. */
  readonly invention: number;
  /** 1 for whole sentences that end, down to 0 for a heap of words. */
  readonly wellFormed: number;
}

/** Words of a summary: below the first and above the second it is marked down, to 0 at the third. */
const lengths = { short: 5, target: 18, limit: 40 } as const;

/** One unknown pair in three makes a heap of words. */
const unknownWeight = 3;

/** Judges a summary by the facts of its post; the judge that preferences come from.
 *  score = coverage · brevity · wellFormed / (1 + invention)
 *  A fact counts once however often it is told; facts about others, wrong facts and unknown names
 *  and numbers are invention.
 *  @example who, event, when and decision of five facts, and a wrong amount, in 16 words
 *           →  ⅘ · 1 · 1 / (1 + 1) = 0.4 */
export function goldScore(
  { facts }: Pick<Post, 'facts'>,
  summary: string,
  { finished }: { readonly finished: boolean },
): GoldScore {
  const pieces = readPieces(summary);
  const told = new Set(pieces.map(keyOfPiece).filter((key) => key !== undefined));
  const isTold = facts.map(({ phrases }) => phrases.some((phrase) => told.has(keyOf(phrase))));
  for (const phrase of facts.flatMap(({ phrases }) => phrases)) told.delete(keyOf(phrase));
  const coverage = isTold.filter(Boolean).length / facts.length;
  const brevity = rateLength(summary.match(/[\p{L}\p{N}'$]+/gu)?.length ?? 0);
  const invention = told.size;
  const wellFormed = rateForm(pieces, finished);
  const score = (coverage * brevity * wellFormed) / (1 + invention);
  return { score, coverage, brevity, invention, wellFormed };
}

/** What a piece claims: a phrase of the world, or an unknown number or name. */
function keyOfPiece({ phrase, symbol, text }: Piece): string | undefined {
  if (phrase !== undefined) return keyOf(phrase);
  const isClaim = /^\$?\d|^\p{Lu}/u.test(text) && !isKnownWord(symbol);
  return isClaim ? `unknown:${symbol}` : undefined;
}

/** n/5 below 5 words, 1 up to 18, (40 − n)/22 above, 0 from 40 on.
 *  @example 2, 5, 18, 29, 50  →  0.4, 1, 1, 0.5, 0 */
function rateLength(n: number): number {
  const { short, target, limit } = lengths;
  return Math.min(1, n / short, Math.max(0, (limit - n) / (limit - target)));
}

/** e · max(0, 1 − 3u): u is the part of neighbouring pieces that no sentence of the world has side
 *  by side, and e = 1, or ½ if the summary does not stop by itself at the end of a sentence. */
function rateForm(pieces: readonly Piece[], finished: boolean): number {
  const last = pieces.at(-1);
  if (last === undefined) return 0;
  const e = finished && /^[.?!]$/.test(last.symbol) ? 1 : 0.5;
  const pairs = pairsOf(pieces.map(({ symbol }) => symbol));
  const u = pairs.filter(([left, right]) => !isKnownPair(left, right)).length / pairs.length;
  return e * Math.max(0, 1 - unknownWeight * u);
}
