import {
  amounts,
  durations,
  names,
  type Phrase,
  type PhraseType,
  relations,
  times,
} from './phrases.ts';
import { scenarios } from './scenario.ts';

/** A word, a punctuation mark or a known phrase of a text. */
export interface Piece {
  /** The phrase's type in angle brackets, or the word or mark in lower case. */
  readonly symbol: string;
  /** The original text, with single spaces. */
  readonly text: string;
  readonly phrase: Phrase | undefined;
}

/** Everything that the world can mention, by type. */
export const lexicon: Readonly<Record<PhraseType, readonly Phrase[]>> = {
  relation: relations,
  name: names,
  event: scenarios.flatMap(({ events }) => events),
  time: times,
  amount: amounts,
  duration: durations,
  decision: scenarios.flatMap(({ decisions }) => decisions),
};

const phraseOfForm: ReadonlyMap<string, Phrase> = new Map(
  Object.values(lexicon)
    .flat()
    .flatMap((phrase) => phrase.forms.map((form) => [form.toLowerCase(), phrase])),
);

const firstWords: ReadonlySet<string> = new Set(
  [...phraseOfForm.keys()].map((form) => form.split(' ')[0]!),
);

const longestForm = Math.max(...[...phraseOfForm.keys()].map((form) => form.split(' ').length));

/** Splits a text from left to right into the longest known phrases.
 *  @example 'Last Friday she broke my phone.'  →  <time>, she, <event>, . */
export function readPieces(text: string): Piece[] {
  const words = text.match(/\$?\d+|[\p{L}']+|\S/gu) ?? [];
  const pieces: Piece[] = [];
  for (let i = 0; i < words.length; ) {
    const [length, phrase] = findPhrase(words, i);
    const piece = words.slice(i, i + length).join(' ');
    const symbol = phrase === undefined ? piece.toLowerCase() : `<${phrase.type}>`;
    pieces.push({ symbol, text: piece, phrase });
    i += length;
  }
  return pieces;
}

function findPhrase(words: readonly string[], from: number): [number, Phrase | undefined] {
  if (!firstWords.has(words[from]!.toLowerCase())) return [1, undefined];
  for (let length = Math.min(longestForm, words.length - from); length > 0; length--) {
    const form = words.slice(from, from + length).join(' ');
    const phrase = phraseOfForm.get(form.toLowerCase());
    if (phrase !== undefined) return [length, phrase];
  }
  return [1, undefined];
}
