export {
  LanguagePass,
  type LanguagePassOptions,
  type LanguageRun,
  type LearnedText,
  learnedRows,
  packTexts,
} from './language-pass.ts';
export { LayerPasses, type LayerPassesOptions, type Tape } from './layer-passes.ts';
export { ModelTrainer, type ModelTrainerOptions, type TrainStepResult } from './model-trainer.ts';
export { PolicyLoss, type PolicyLossInput, type PolicyLossResult } from './policy-loss.ts';
export { preferenceLoss, ratingLoss } from './preference-loss.ts';
export { RoleOptimizer } from './role-optimizer.ts';
export { rolloutMismatch } from './rollout-weights.ts';
export { ScalarPass } from './scalar-pass.ts';
export { ValueLoss, type ValueLossInput, type ValueLossResult } from './value-loss.ts';
