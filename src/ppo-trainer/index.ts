export type { StepContext } from './collect-experience.ts';
export type { ComponentOptions, Components } from './components.ts';
export { ConvergenceMonitor } from './convergence.ts';
export {
  type Convergence,
  type EvaluationReport,
  evaluationMetrics,
  type Performance,
} from './evaluation-report.ts';
export { type EvaluateOptions, Evaluator, type EvaluatorOptions } from './evaluator.ts';
export type { Phase, TrainEvent } from './events.ts';
export type { SaveCheckpoint } from './loop-checkpoints.ts';
export type { RewardModelClass } from './make-roles.ts';
export type { PPOStepResult, StepDetails } from './ppo-step.ts';
export {
  PPOTrainer,
  type PPOTrainerOptions,
  type TrainingResults,
  type TrainOptions,
} from './ppo-trainer.ts';
export type { TrainPrompt } from './read-prompts.ts';
export type {
  Metrics,
  SampleRecord,
  StopReason,
  TokenAlternatives,
  TokenRecord,
} from './records.ts';
export type { StepControl } from './step-control.ts';
export type { EpochCallback, StepCallbacks, TrainCallback } from './train-callback.ts';
export type { LoopResult } from './train-loop.ts';
