export { buildComponents, type ComponentOptions, type PPOComponents } from './components.ts';
export { ConvergenceMonitor } from './convergence.ts';
export { type EvaluateOptions, Evaluator, type EvaluatorOptions } from './evaluator.ts';
export { type PPOStepResult, ppoStep, type StepContext, type StepDetails } from './ppo-step.ts';
export type { TrainPrompt } from './ppo-trainer.ts';
export {
  PPOTrainer,
  type PPOTrainerOptions,
  type TrainingResults,
  type TrainOptions,
} from './ppo-trainer.ts';
