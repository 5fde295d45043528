export type { CheckpointFolders, SaveCheckpoint } from './checkpoint.ts';
export { readArrays, writeArrays } from './checkpoint-arrays.ts';
export {
  type Convergence,
  type EvaluationReport,
  evaluationMetrics,
  type Performance,
} from './evaluation-report.ts';
export type { EpochCallback, Phase, StepCallbacks, TrainCallback, TrainEvent } from './events.ts';
export { notifyCallback } from './events.ts';
export { createTrainLoop } from './loop-checkpoints.ts';
export {
  type Metrics,
  type SampleRecord,
  type StopReason,
  stopReasons,
  type TokenAlternatives,
  type TokenRecord,
} from './records.ts';
export { type StepControl, StopRequest } from './step-control.ts';
export {
  type EvaluationOutcome,
  type LoopOptions,
  type LoopResult,
  NonFiniteError,
  StepError,
  type StepOutcome,
  type Training,
  TrainLoop,
  type TrainStepContext,
} from './train-loop.ts';
