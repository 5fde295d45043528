import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

const words = z.array(z.string().trim().min(1)).default([]);

export const keywordOptions = z.strictObject({
  words: words.describe('Words and phrases to use'),
  avoid: words.describe('Words and phrases not to use'),
});

export type KeywordOptions = z.input<typeof keywordOptions>;

/** Rewards some words and punishes others: the part of `words` that a response has, minus the part
 *  of `avoid` that it has; in [−1, 1]. Only whole words count, in any case; how often does not.
 *  @example words=['thank you', 'please'], avoid=['stupid']:
 *    'Thank  you!'  →  ½;  'Please, stupid'  →  ½ − 1 = −½;  'pleased'  →  0 */
export function keyword(options: KeywordOptions): LibraryReward {
  const parsed = parseOptions(keywordOptions, options, { reward: 'keyword' });
  const wanted = parsed.words.map(wholeWords);
  const unwanted = parsed.avoid.map(wholeWords);
  if (wanted.length + unwanted.length === 0) {
    throw new ConfigError('Cannot use the reward keyword: words or avoid must be given, got none');
  }
  return function keyword({ response }) {
    const text = response.normalize();
    return partFound(wanted, text) - partFound(unwanted, text);
  };
}

/** Finds a phrase where no letter, mark or digit touches it. */
function wholeWords(phrase: string): RegExp {
  const words = phrase.normalize().split(/\s+/);
  const pattern = words.map((word) => word.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&')).join('\\s+');
  return new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])${pattern}(?![\\p{L}\\p{M}\\p{N}_])`, 'iu');
}

function partFound(patterns: readonly RegExp[], text: string): number {
  if (patterns.length === 0) return 0;
  return patterns.filter((pattern) => pattern.test(text)).length / patterns.length;
}
