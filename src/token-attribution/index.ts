export { type KlEstimator, klDerivative, klDivergence } from './kl-divergence.ts';
export { type PairColumns, PairList } from './pair-list.ts';
export type { Rollout, RolloutSequence, SAPair } from './rollout.ts';
export { TokenAttributor, type TokenAttributorOptions } from './token-attributor.ts';
