import { countSyllables } from './count-syllables.ts';
import type { LibraryReward } from './library-reward.ts';
import { splitWords } from './split-words.ts';

/** Ends of sentences: marks before a space or a closing quote, and line breaks. */
const sentenceEnd = /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s|$)|[。！？]+|\n+/u;

/** Rewards easy English by Flesch's reading ease (1948), clipped and scaled to [0, 1]:
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
