import { z } from 'zod';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { ngrams } from './ngrams.ts';
import { splitWords } from './split-words.ts';

export const repetitionPenaltyOptions = z.strictObject({
  n: z.int().min(1).default(3).describe('Words in a run'),
});

export type RepetitionPenaltyOptions = z.input<typeof repetitionPenaltyOptions>;

/** Punishes runs of n words that came before in the response: unique/all − 1, in (−1, 0]; 0 for
 *  fewer than n words. Case does not count.
 *  @example n=2: 'The cat, the cat, the'  →  2/4 − 1 = −½ */
export function repetitionPenalty(options: RepetitionPenaltyOptions = {}): LibraryReward {
  const { n } = parseOptions(repetitionPenaltyOptions, options, { reward: 'repetitionPenalty' });
  return function repetitionPenalty({ response }) {
    const runs = ngrams(splitWords(response.toLowerCase()), n);
    return runs.length === 0 ? 0 : new Set(runs).size / runs.length - 1;
  };
}
