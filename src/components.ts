/**
 * The parts of a PPO step and of a training run, for programs with a loop of their own.
 * @module proximal/components
 */

// Advantages: values, TD errors, GAE and the other estimators, returns.
export {
  AdvantageComputer,
  type AdvantageConfig,
  type AdvantageEstimator,
  type AdvantageInput,
  type Advantages,
  advantageEstimators,
  type EstimatorConfig,
  type EstimatorInput,
  type GaeOptions,
  gaeAdvantages,
  returnsOf,
  rewardToGo,
  type StepAdvantages,
  type TdErrorOptions,
  tdErrors,
  ValueAdder,
} from './advantage/index.ts';
// Safetensors files.
export {
  type Dtype,
  type FloatDtype,
  type NamedTensor,
  SafetensorsReader,
  type ShardedWriteOptions,
  type TensorInfo,
  type TensorStream,
  type WriteOptions,
  writeSafetensors,
  writeShardedSafetensors,
} from './base-setup/index.ts';
// Generation and the order of data.
export {
  type EpochOrderOptions,
  epochOrder,
  PromptOrder,
  type PromptOrderOptions,
} from './data/index.ts';

// Experience: the columns of a step and minibatches of them.
export {
  concatExperiences,
  type Experience,
  ExperienceBuffer,
  type ExperienceBufferOptions,
  type MiniBatchOptions,
  type PassStrategy,
  type SamplingStrategy,
  selectSequences,
} from './experience-buffer/index.ts';
export {
  type LikelyTokens,
  type SampledToken,
  type SampleOptions,
  Sampler,
  type SamplingOptions,
} from './generation/index.ts';
export {
  type EvaluationOutcome,
  evaluationMetrics,
  type LoopOptions,
  type LoopResult,
  type SaveCheckpoint,
  type StepControl,
  type StepOutcome,
  StopRequest,
  type Training,
  TrainLoop,
  type TrainStepContext,
} from './loop/index.ts';
// The trainer's own parts, and the loop around steps.
export {
  type ComponentOptions,
  type Components,
  ConvergenceMonitor,
  type EvaluateOptions,
  Evaluator,
  type EvaluatorOptions,
  type PPOStepResult,
  type StepContext,
} from './ppo-trainer/index.ts';
// Rewards: scores to rewards of tokens, and β.
export {
  type ComputedRewards,
  type ComputeRewardsOptions,
  KlController,
  type KlControllerConfig,
  type KlControllerState,
  type NormalizedScores,
  type PlacedRewards,
  type PlacementOptions,
  placeRewards,
  type RewardComputation,
  RewardComputer,
  type RewardComputerConfig,
  type RewardComputerOptions,
  type RewardComputerState,
  type RewardParts,
  type ScoredSamples,
  type ScoreMoments,
  ScoreNormalizer,
  type ScoreNormalizerConfig,
  type ShapedScores,
  type TokenAndTextScores,
  toWeightedSources,
  type Whitening,
} from './reward-kl/index.ts';
// A run on disk.
export {
  CheckpointStore,
  type CheckpointStoreOptions,
  type EventContent,
  EventWriter,
  type EventWriterOptions,
  type FoundCheckpoint,
  JsonlWriter,
  locateRunFiles,
  MetricSink,
  RunFolder,
  type RunFolderOptions,
  type RunPaths,
  type SaveCheckpointOptions,
} from './run/index.ts';
// Token attribution: log π_old, log π_ref and KL_t of sampled tokens.
export {
  type KlEstimator,
  klDerivative,
  klDivergence,
  type PairColumns,
  PairList,
  type Rollout,
  type RolloutSequence,
  type SAPair,
  TokenAttributor,
  type TokenAttributorOptions,
} from './token-attribution/index.ts';
// Training: losses and optimiser steps.
export {
  ModelTrainer,
  type ModelTrainerOptions,
  PolicyLoss,
  type PolicyLossInput,
  type PolicyLossResult,
  preferenceLoss,
  RoleOptimizer,
  ratingLoss,
  rolloutMismatch,
  type TrainStepResult,
  ValueLoss,
  type ValueLossInput,
  type ValueLossResult,
} from './training/index.ts';
