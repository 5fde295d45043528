export {
  CheckpointStore,
  type CheckpointStoreOptions,
  type FoundCheckpoint,
  type SaveCheckpointOptions,
} from './checkpoint-store.ts';
export { type EvaluatePolicyOptions, evaluatePolicy } from './evaluate-policy.ts';
export { JsonlWriter } from './jsonl-writer.ts';
export { MetricSink } from './metric-sink.ts';
export {
  locateRunFiles,
  RunFolder,
  type RunFolderOptions,
  type RunPaths,
  readRunConfig,
} from './run-folder.ts';
export { type RunState, readRunState } from './run-state.ts';
export type { EventContent } from './tensorboard/event.ts';
export { EventWriter, type EventWriterOptions } from './tensorboard/event-writer.ts';
export { resumeRun, type TrainRunOptions, type TrainRunResult, trainRun } from './train-run.ts';
