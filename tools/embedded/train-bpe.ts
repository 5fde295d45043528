import { byteOfCharacter } from '../../src/base-setup/tokenizer/decoder.ts';

/** A trained vocabulary. */
export interface Bpe {
  /** Tokens by id: special ones, one for each byte, then merged ones. */
  readonly tokens: readonly string[];
  /** The pairs that are merged, first to last. */
  readonly merges: readonly (readonly [string, string])[];
}

export interface TrainBpeOptions {
  readonly vocabSize: number;
  /** Come first, and are never part of a merge. */
  readonly specialTokens: readonly string[];
}

/** Qwen's words, in the notation of tokenizer.json: contractions, letters with a mark or space before them, single digits, marks,
 *  line ends, spaces. */
export const wordPattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** The same in JavaScript, whose regular expressions cannot ignore case in a part alone. */
const words = new RegExp(
  wordPattern.replace(
    /\(\?i:([^)]*)\)/,
    (_, part: string) => `(?:${part.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`)})`,
  ),
  'gu',
);

interface Word {
  parts: string[];
  readonly count: number;
}

/** Learns byte-level BPE: as long as the vocabulary has room, the pair of neighbouring tokens that
 *  is most frequent within words becomes a token. Of equally frequent pairs that of the lower ids
 *  wins, so the same texts always give the same vocabulary.
 *  @example 'aab aab ab': the words aab, Ġaab, Ġab  →  a+b (3 times), a+ab (twice), Ġ+ab */
export function trainBpe(texts: Iterable<string>, options: TrainBpeOptions): Bpe {
  const { vocabSize, specialTokens } = options;
  const tokens = [...specialTokens, ...byteOfCharacter.keys()];
  if (vocabSize < tokens.length) {
    throw new RangeError(
      `Cannot train BPE: vocabSize must be at least ${tokens.length}, the special tokens and bytes, got ${vocabSize}`,
    );
  }
  const idOf = new Map(tokens.map((token, id) => [token, id]));
  const merges: [string, string][] = [];
  const corpus = countWords(texts);
  while (tokens.length < vocabSize) {
    const pair = findBestPair(corpus, idOf);
    if (pair === undefined) {
      throw new RangeError(
        `Cannot train BPE: the texts must have pairs left to merge, got none after ${tokens.length} tokens; give more texts, or lower vocabSize`,
      );
    }
    const token = pair.join('');
    merges.push(pair);
    // Two pairs can make the same token.
    if (!idOf.has(token)) {
      idOf.set(token, tokens.length);
      tokens.push(token);
    }
    for (const word of corpus) word.parts = mergePair(word.parts, pair);
  }
  return { tokens, merges };
}

/** Different words in order of their first place, with their bytes as tokens. */
function countWords(texts: Iterable<string>): Word[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.matchAll(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const characters = [...byteOfCharacter.keys()];
  const toParts = (word: string) => Array.from(Buffer.from(word), (byte) => characters[byte]!);
  return [...counts].map(([word, count]) => ({ parts: toParts(word), count }));
}

function findBestPair(
  corpus: readonly Word[],
  idOf: ReadonlyMap<string, number>,
): [string, string] | undefined {
  const size = idOf.size;
  const counts = new Map<number, number>();
  for (const { parts, count } of corpus) {
    for (let i = 1; i < parts.length; i++) {
      const key = idOf.get(parts[i - 1]!)! * size + idOf.get(parts[i]!)!;
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
  }
  let best: [number, number] | undefined;
  for (const [key, count] of counts) {
    if (!best || count > best[1] || (count === best[1] && key < best[0])) best = [key, count];
  }
  if (best === undefined) return undefined;
  const tokens = [...idOf.keys()];
  return [tokens[Math.floor(best[0] / size)]!, tokens[best[0] % size]!];
}

function mergePair(parts: string[], [left, right]: readonly [string, string]): string[] {
  const merged: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    merged.push(isPair ? left + right : parts[i]!);
    if (isPair) i++;
  }
  return merged;
}
