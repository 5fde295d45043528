import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { messageOf } from '../reward-source.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

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
