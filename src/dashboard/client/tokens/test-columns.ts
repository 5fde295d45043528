import type { TokenColumns } from '../../api.ts';

/** Columns of the worked example of GAE: γ=1, λ=½, r=[0, 0, 1], V=[½, ½, ½]  →  A=[⅛, ¼, ½],
 *  G=[⅝, ¾, 1]. Every KL_t is ½, and β = 0. */
export function makeColumns(changes: Partial<TokenColumns> = {}): TokenColumns {
  return {
    step: 7,
    promptIdx: 3,
    sample: 0,
    prompt: 'a',
    ids: [4, 5, 2],
    texts: [' b', ' c', ''],
    logprobs: [-1, -1, -1],
    refLogprobs: [-1.5, -1.5, -1.5],
    kl: [0.5, 0.5, 0.5],
    rewards: [0, 0, 1],
    values: [0.5, 0.5, 0.5],
    advantages: [0.125, 0.25, 0.5],
    returns: [0.625, 0.75, 1],
    entropies: [1, 1, 1],
    ratios: [1, 1.5, null],
    alternatives: [],
    gamma: 1,
    lambda: 0.5,
    klCoef: 0,
    whitening: null,
    ...changes,
  };
}
