export { FunctionSource, type FunctionSourceOptions } from './function-source.ts';
export { HumanSource, type HumanSourceOptions } from './human-source.ts';
export { KlController, type KlControllerConfig, type KlControllerState } from './kl-controller.ts';
export * as rewards from './library/index.ts';
export {
  type HumanRequest,
  type HumanScore,
  humanScoreSchema,
  locateHumanFiles,
  readRequestLines,
  readScoreLines,
} from './live-human-files.ts';
export {
  type LiveHumanListener,
  type LiveHumanOptions,
  LiveHumanSource,
} from './live-human-source.ts';
export { type LoadRewardFileOptions, loadRewardFile } from './load-reward-file.ts';
export {
  type PlacedRewards,
  type PlacementOptions,
  placeRewards,
  type RewardParts,
} from './place-rewards.ts';
export { RemoteSource, type RemoteSourceOptions } from './remote-source.ts';
export type {
  ComputedRewards,
  ComputeRewardsOptions,
  RewardComputation,
  RewardComputerState,
  ScoredSamples,
  ShapedScores,
  TokenAndTextScores,
} from './reward-computation.ts';
export {
  RewardComputer,
  type RewardComputerConfig,
  type RewardComputerOptions,
} from './reward-computer.ts';
export { RewardError } from './reward-error.ts';
export { RewardModelSource } from './reward-model-source.ts';
export type {
  RewardFunction,
  RewardSample,
  RewardSource,
  Score,
  ScoreContext,
  WeightedSource,
} from './reward-source.ts';
export {
  type NormalizedScores,
  type ScoreMoments,
  ScoreNormalizer,
  type ScoreNormalizerConfig,
} from './score-normalizer.ts';
export {
  type Reward,
  type Rewards,
  toWeightedSources,
  type WeightedReward,
} from './to-weighted-sources.ts';
export type { Whitening } from './whiten.ts';
