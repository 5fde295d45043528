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
export {
  checkRewardFile,
  type LoadRewardFileOptions,
  loadNamedReward,
  loadRewardFile,
} from './load-reward-file.ts';
export {
  type PlacedRewards,
  type PlacementOptions,
  placeRewards,
  type RewardParts,
} from './place-rewards.ts';
export { RemoteSource, type RemoteSourceOptions } from './remote-source.ts';
export {
  type ComputedRewards,
  type ComputeRewardsOptions,
  type RewardComputation,
  RewardComputer,
  type RewardComputerConfig,
  type RewardComputerOptions,
  type RewardComputerState,
  type ShapedScores,
} from './reward-computer.ts';
export { RewardModelSource } from './reward-model-source.ts';
export {
  type PromptInfo,
  RewardError,
  type RewardFunction,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
  type WeightedSource,
} from './reward-source.ts';
export {
  type NormalizedScores,
  type ScoreMoments,
  ScoreNormalizer,
  type ScoreNormalizerConfig,
} from './score-normalizer.ts';
export type { ScoredSamples, TokenAndTextScores } from './score-samples.ts';
export {
  type Reward,
  type Rewards,
  toWeightedSources,
  type WeightedReward,
} from './to-weighted-sources.ts';
export type { Whitening } from './whiten.ts';
