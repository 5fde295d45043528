export { inOrder } from './in-order.ts';
export {
  type LearnedText,
  languageGradients,
  learnedRows,
  packTexts,
} from './language-pass.ts';
export { cachedTokens } from './memory-estimate.ts';
export { StepCache, StepPlan } from './micro-batches.ts';
export {
  ModelTrainer,
  type ModelTrainerOptions,
  type TrainStepOptions,
  type TrainStepResult,
} from './model-trainer.ts';
export {
  PolicyLoss,
  type PolicyLossInput,
  type PolicyLossResult,
  rolloutMismatch,
} from './policy-loss.ts';
export {
  type LogisticSlopes,
  type PreferenceLoss,
  preferenceLoss,
  preferenceSlopes,
  ratingLoss,
  ratingSlopes,
} from './preference-loss.ts';
export { RoleOptimizer } from './role-optimizer.ts';
export {
  jointScalarGradients,
  logisticScoreSlopes,
  runScalar,
  scalarGradients,
} from './scalar-pass.ts';
export {
  type GradientJob,
  type GradientResult,
  type JobContext,
  LocalJobs,
  placeColumns,
  type RolloutJob,
  type ScoreJob,
  type StepJobs,
} from './step-jobs.ts';
export { ValueLoss, type ValueLossInput, type ValueLossResult } from './value-loss.ts';
