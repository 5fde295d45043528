import type { Post } from './facts.ts';
import { keyOf } from './phrases.ts';
import { type Piece, readPieces } from './read-pieces.ts';
import { scenarios } from './scenario.ts';
import * as post from './templates.ts';
import * as summary from './templates.ts';
import { fillTemplate, type Slots } from './templates.ts';

export interface GoldScore {
  /** From 0 to 1. */
  readonly score: number;
  /** Fraction of the key facts in the summary. */
  readonly coverage: number;
  /** 1 for a good length, down to 0 for far too long. */
  readonly brevity: number;
  /** Number of distinct claims that are not key facts. */
  readonly invention: number;
  /** 1 for complete sentences, down to 0 for a random sequence of words. */
  readonly wellFormed: number;
}

/** Words of a summary: the score drops below `short` and above `target`, and is 0 at `limit`. */
const lengths = { short: 5, target: 18, limit: 40 } as const;

/** If one pair in three is unknown, the form scores 0. */
const unknownWeight = 3;

/** Scores a summary by the facts of its post; preferences are based on it.
 *  score = coverage · brevity · wellFormed / (1 + invention)
 *  A repeated fact counts once; facts about others, wrong facts and unknown names and numbers count as
 *  invention.
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

/** The claim of a piece: a phrase of the world, or an unknown number or name. */
function keyOfPiece({ phrase, symbol, text }: Piece): string | undefined {
  if (phrase !== undefined) return keyOf(phrase);
  const isClaim = /^\$?\d|^\p{Lu}/u.test(text) && !isKnownWord(symbol);
  return isClaim ? `unknown:${symbol}` : undefined;
}

/** n/5 below 5 words, 1 up to 18, (40 − n)/22 above, 0 from 40.
 *  @example 2, 5, 18, 29, 50  →  0.4, 1, 1, 0.5, 0 */
function rateLength(n: number): number {
  const { short, target, limit } = lengths;
  return Math.min(1, n / short, Math.max(0, (limit - n) / (limit - target)));
}

/** e · max(0, 1 − 3u): u is the fraction of adjacent pieces that are adjacent in no sentence of the
 *  world, and e = 1, or ½ if the summary does not finish at the end of a sentence. */
function rateForm(pieces: readonly Piece[], finished: boolean): number {
  const last = pieces.at(-1);
  if (last === undefined) return 0;
  const e = finished && /^[.?!]$/.test(last.symbol) ? 1 : 0.5;
  const pairs = pairsOf(pieces.map(({ symbol }) => symbol));
  const u = pairs.filter(([left, right]) => !isKnownPair(left, right)).length / pairs.length;
  return e * Math.max(0, 1 - unknownWeight * u);
}

/** One phrase per type represents all of them. */
const facts = {
  event: 'yelled at me',
  when: 'last week',
  decision: 'move out',
  otherDecision: 'move out',
  otherTime: 'last week',
  otherAmount: '$30',
  otherDuration: 'two weeks',
};

/** The ways to refer to people. */
const subjects: readonly Slots[] = [
  'my sister Anna',
  'my sister',
  'Anna',
  'she',
  'he',
  summary.someone,
].map((name) => ({ who: name, she: name, other: name }));

const known = collect();

/** Whether the symbols are adjacent in some sentence of the world; `^` starts a sentence. */
export function isKnownPair(left: string, right: string): boolean {
  return known.pairs.has(`${left} ${right}`);
}

/** Whether a word occurs in the world's sentences. */
export function isKnownWord(symbol: string): boolean {
  return known.symbols.has(symbol);
}

/** Adjacent symbols of a text, per sentence.
 *  @example symbols `i`, `may`, `<decision>`, `.`  →  [^, i], [i, may], [may, <decision>], [<decision>, .] */
export function pairsOf(symbols: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  let left = '^';
  for (const right of symbols) {
    pairs.push([left, right]);
    left = /^[.?!]$/.test(right) ? '^' : right;
  }
  return pairs;
}

function collect() {
  const pairs = new Set<string>();
  const symbols = new Set<string>();
  for (const sentence of listSentences()) {
    const sentenceSymbols = readPieces(sentence).map(({ symbol }) => symbol);
    for (const symbol of sentenceSymbols) symbols.add(symbol);
    for (const [left, right] of pairsOf(sentenceSymbols)) pairs.add(`${left} ${right}`);
  }
  return { pairs, symbols };
}

/** Every sentence of posts and summaries, with every way to refer to people and with and without every
 *  optional part. */
function listSentences(): string[] {
  const { introductions, datedEvents, events, dates, decisions, otherFacts, smallTalk } = post;
  const factSentences = [
    introductions,
    datedEvents,
    events,
    dates,
    decisions,
    otherFacts,
    smallTalk,
  ].flat();
  const { tellings, vagueTellings, asks, vagueAsks, fillers } = summary;
  const open = [...tellings, ...vagueTellings];
  const ofScenarios = scenarios.flatMap(({ measure }) => {
    const slots = { ...facts, measure: measure.type === 'amount' ? '$30' : 'two weeks' };
    const clauses = ['', ...measure.clauses].map((clause) => fillTemplate(clause, slots));
    const variants = subjects.flatMap((subject) =>
      clauses.flatMap((clause) =>
        ['', facts.when].map((when) => ({ ...slots, ...subject, clause, when })),
      ),
    );
    return [
      ...measure.sentences.map((template) => fillTemplate(template, slots)),
      ...variants.flatMap((slots) => open.map((template) => fillTemplate(template, slots))),
    ];
  });
  const rest = [...factSentences, ...asks, ...vagueAsks, ...fillers];
  const ofSubjects = subjects.flatMap((subject) =>
    rest.map((template) => fillTemplate(template, { ...facts, ...subject })),
  );
  return [...new Set([...ofScenarios, ...ofSubjects])];
}
