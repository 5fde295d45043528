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
} from '../loop/checkpoint-store.ts';
export { type EvaluatePolicyOptions, evaluatePolicy } from './evaluate-policy.ts';
export type { HumanEvaluation, HumanEvaluationRow, MeanRating } from './human-evaluation.ts';
export { appendHumanScore, readHumanRequests } from './human-scores.ts';
export { JsonlWriter, type LogRow } from './log-files.ts';
export { MetricSink } from './metric-sink.ts';
export { readHumanEvaluations } from './record-human-evaluation.ts';
export {
  type LengthBaseline,
  type RewardRunResult,
  resumeRewardRun,
  rewardRun,
} from './reward-run.ts';
export { type RunCommand, requestControl } from './run-control.ts';
export {
  locateRunFiles,
  RunFolder,
  type RunFolderOptions,
  type RunPaths,
  readRunConfig,
} from './run-folder.ts';
export { type RunState, readRunState } from './run-state.ts';
export type { RunEvaluation, RunEvaluations, RunOptions, RunResult } from './run-training.ts';
export { type RunData, resumeSFTRun, type SFTRunResult, sftRun } from './sft-run.ts';
export { type EventContent, EventWriter, type EventWriterOptions } from './tensorboard.ts';
export { resumeRun, type TrainRunOptions, trainRun } from './train-run.ts';
