export type {
  RewardRunConfig,
  RewardRunConfigOptions,
  SFTRunConfig,
  SFTRunConfigOptions,
} from '../config/stage-run-config.ts';
export {
  CheckpointStore,
  type CheckpointStoreOptions,
  type FoundCheckpoint,
  type SaveCheckpointOptions,
} from './checkpoint-store.ts';
export { type EvaluatePolicyOptions, evaluatePolicy } from './evaluate-policy.ts';
export { appendHumanScore, readHumanRequests } from './human-scores.ts';
export { JsonlWriter } from './jsonl-writer.ts';
export { MetricSink } from './metric-sink.ts';
export type { FirstAndLastValidation, StageValidation } from './read-validations.ts';
export type { LengthBaseline } from './reward-data.ts';
export { type RewardRunResult, resumeRewardRun, rewardRun } from './reward-run.ts';
export { type RunCommand, requestControl } from './run-control.ts';
export {
  locateRunFiles,
  RunFolder,
  type RunFolderOptions,
  type RunPaths,
  readRunConfig,
} from './run-folder.ts';
export type { LogRow } from './run-log.ts';
export { type RunState, readRunState } from './run-state.ts';
export { resumeSFTRun, sftRun } from './sft-run.ts';
export type { StageItems, StageRunOptions, StageRunResult } from './stage-run.ts';
export type { EventContent } from './tensorboard/event.ts';
export { EventWriter, type EventWriterOptions } from './tensorboard/event-writer.ts';
export { resumeRun, type TrainRunOptions, type TrainRunResult, trainRun } from './train-run.ts';
