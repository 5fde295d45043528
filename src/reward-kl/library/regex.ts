import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { messageOf } from '../reward-error.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

export const regexOptions = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression to find, such as ^Yes\\b'),
  flags: z.string().default('u').describe("The expression's flags: i, m, s, u or v"),
});

export interface RegexOptions extends Omit<z.input<typeof regexOptions>, 'pattern'> {
  /** An expression with flags of its own, or its text. */
  readonly pattern: string | RegExp;
}

/** 1 for a response in which a regular expression is found, else 0.
 *  @example pattern=/^Yes\b/: 'Yes, it is'  →  1;  'Yesterday'  →  0 */
export function regex({ pattern, ...options }: RegexOptions): LibraryReward {
  const given =
    pattern instanceof RegExp
      ? { flags: pattern.flags, ...options, pattern: pattern.source }
      : { ...options, pattern };
  const { pattern: source, flags } = parseOptions(regexOptions, given, { reward: 'regex' });
  const expression = compile(source, flags);
  return function regex({ response }) {
    return expression.test(response) ? 1 : 0;
  };
}

function compile(source: string, flags: string): RegExp {
  try {
    // With these two an expression remembers where it stopped, in another response.
    return new RegExp(source, flags.replace(/[gy]/g, ''));
  } catch (cause) {
    throw new ConfigError(
      `Cannot use the reward regex: pattern and flags must be a regular expression's, got ${JSON.stringify(source)} and ${JSON.stringify(flags)} (${messageOf(cause)})`,
      { cause },
    );
  }
}
