import type { SAPair } from '../../../token-attribution/rollout.ts';
import type { TokenColumns } from '../../api.ts';

/** Token t as the pair of the state that the policy saw and the action that it chose.
 *  @example prompt 'a', texts [' b', ' c'], t=1  →  stateText 'a b', actionToken ' c' */
export function saPairOf(columns: TokenColumns, t: number): SAPair {
  const at = (column: readonly number[]) => column[t] ?? Number.NaN;
  return {
    stateText: columns.prompt + columns.texts.slice(0, t).join(''),
    actionToken: columns.texts[t] ?? '',
    actionTokenId: at(columns.ids),
    logprob: at(columns.logprobs),
    refLogprob: at(columns.refLogprobs),
    klDiv: at(columns.kl),
    value: at(columns.values),
    advantage: at(columns.advantages),
    rewardToGo: at(columns.returns),
    promptIdx: columns.promptIdx,
    step: t,
  };
}
