import { z } from 'zod';
import type { RewardSample } from '../reward-source.ts';
import { type LibraryReward, ngrams, parseOptions, splitWords } from './library-reward.ts';

const lengthUnit = z
  .enum(['words', 'characters', 'tokens'])
  .default('words')
  .describe('What to count; tokens include the stop token');

export const brevityOptions = z.strictObject({
  target: z.int().min(1).default(50).describe('Longest response that scores 1'),
  unit: lengthUnit,
});

/** The target length and its unit. */
export type BrevityOptions = z.input<typeof brevityOptions>;

/** Rewards short responses: min(1, target/n) for n words, 0 for none; in [0, 1].
 *  @example target=2: ''  →  0;  'one two'  →  1;  'one two three four'  →  ½ */
export function brevity(options: BrevityOptions = {}): LibraryReward {
  const { target, unit } = parseOptions(brevityOptions, options, { reward: 'brevity' });
  return function brevity(sample) {
    return scoreLength(measureLength(sample, unit), { from: 1, to: target });
  };
}

export const lengthOptions = z.strictObject({
  target: z.int().min(1).describe('Length that scores 1'),
  tolerance: z.int().min(0).default(0).describe('Distance from the target that still scores 1'),
  unit: lengthUnit,
});

/** The target length, its tolerance and its unit. */
export type LengthOptions = z.input<typeof lengthOptions>;

/** Rewards responses of roughly a given length: with a = max(1, target − tolerance) and
 *  b = target + tolerance, n/a for n < a, 1 from a to b, b/n above; in [0, 1].
 *  @example target=3, tolerance=1: 'one'  →  ½;  'one two three four'  →  1;  eight words  →  ½ */
export function length(options: LengthOptions): LibraryReward {
  const { target, tolerance, unit } = parseOptions(lengthOptions, options, { reward: 'length' });
  const band = { from: Math.max(1, target - tolerance), to: target + tolerance };
  return function length(sample) {
    return scoreLength(measureLength(sample, unit), band);
  };
}

/** The length of a response. Blank text has no words and no characters. */
function measureLength(
  { response, tokens }: RewardSample,
  unit: z.output<typeof lengthUnit>,
): number {
  if (unit === 'tokens') return tokens.length;
  return unit === 'words' ? splitWords(response).length : Array.from(response.trim()).length;
}

/** How close a length n is to the band from a to b: n/a below it, 1 inside, b/n above.
 *  @example a=4, b=8, n=[0, 3, 6, 16]  →  [0, ¾, 1, ½] */
export function scoreLength(n: number, { from: a, to: b }: { from: number; to: number }): number {
  if (n < a) return n / a;
  return n > b ? b / n : 1;
}

export const repetitionPenaltyOptions = z.strictObject({
  n: z.int().min(1).default(3).describe('Words per n-gram'),
});

/** Length of the n-grams that are compared. */
export type RepetitionPenaltyOptions = z.input<typeof repetitionPenaltyOptions>;

/** Penalises repeated n-grams: unique/all − 1, in (−1, 0]; 0 for fewer than n words. Ignores case.
 *  @example n=2: 'The cat, the cat, the'  →  2/4 − 1 = −½ */
export function repetitionPenalty(options: RepetitionPenaltyOptions = {}): LibraryReward {
  const { n } = parseOptions(repetitionPenaltyOptions, options, { reward: 'repetitionPenalty' });
  return function repetitionPenalty({ response }) {
    const all = ngrams(splitWords(response.toLowerCase()), n);
    return all.length === 0 ? 0 : new Set(all).size / all.length - 1;
  };
}

/** Sentence ends: punctuation before a space or closing quote, and line breaks. */
const sentenceEnd = /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s|$)|[。！？]+|\n+/u;

/** Rewards readable English by Flesch's reading ease (1948), clipped and scaled to [0, 1]:
 *  clip(206.835 − 1.015·words/sentences − 84.6·syllables/words, 0, 100)/100; 0 without words.
 *  @example 'The committee approved the proposal.': 5 words, 1 sentence, 10 syllables
 *    →  (206.835 − 5.075 − 169.2)/100 = 0.3256 */
export function flesch(): LibraryReward {
  return function flesch({ response }) {
    const words = splitWords(response);
    if (words.length === 0) return 0;
    const hasWord = (piece: string) => /[\p{L}\p{N}]/u.test(piece);
    const sentences = Math.max(1, response.split(sentenceEnd).filter(hasWord).length);
    const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0);
    const ease = 206.835 - 1.015 * (words.length / sentences) - 84.6 * (syllables / words.length);
    return Math.min(100, Math.max(0, ease)) / 100;
  };
}

const vowels = /[aeiouy]+/g;

/** A final e, es or ed after a consonant. It is not silent after a consonant and l (tables), es after a
 *  sibilant (boxes), or ed after t or d (wanted). */
const silentEnd = /[^aeiouy](?<![^aeiouy]l)(?:e|(?<![sxzcg]|[cs]h)es|(?<![td])ed)$/;

/** Estimates the syllables of an English word: its vowel groups minus a silent ending, at least 1.
 *  Adjacent vowels of two syllables (idea) count as one.
 *  @example the 1, table 2, makes 1, boxes 2, loved 1, wanted 2, proposal 3, café 2, 42 1 */
export function countSyllables(word: string): number {
  const lower = word.toLowerCase().normalize('NFC');
  const plain = lower.normalize('NFD').replace(/\p{M}/gu, '');
  const groups = plain.match(vowels)?.length ?? 0;
  return Math.max(1, groups - (silentEnd.test(lower) ? 1 : 0));
}
