import { brevity, keyword, type RewardSource, type Rewards } from '../web/index.ts';
import { compileFormula } from './formula.ts';

/** What the model is rewarded for. */
export type RewardKind = 'brevity' | 'keyword' | 'formula' | 'thumbs';

/** The reward as it is filled in on the page. */
export interface RewardSettings {
  readonly kind: RewardKind;
  /** Longest response with the full score, in words. */
  readonly target: number;
  /** Words to use, separated by commas. */
  readonly keyword: string;
  readonly formula: string;
}

export const defaultReward: RewardSettings = {
  kind: 'brevity',
  target: 6,
  keyword: 'advice',
  formula: 'has("advice") + min(words, 12) / 12 - (words > 20)',
};

/** Checks the settings and creates the reward. People answer through `pairs`. */
export function createReward(settings: RewardSettings, pairs: RewardSource): Rewards {
  const { kind, target, formula } = settings;
  if (kind === 'thumbs') return { thumbs: pairs };
  if (kind === 'brevity') return { brevity: brevity({ target }) };
  if (kind === 'keyword') {
    const words = settings.keyword.split(',').map((word) => word.trim());
    if (words.every((word) => word === '')) {
      throw new Error('Cannot start: the keyword must not be empty, got nothing');
    }
    return { keyword: keyword({ words: words.filter((word) => word !== '') }) };
  }
  const evaluate = compileFormula(formula);
  return {
    formula: ({ prompt, response, tokens }) =>
      evaluate({ prompt, response, tokens: tokens.length }),
  };
}
