export type { StepContext } from './collect-experience.ts';
export type { ComponentOptions, Components } from './components.ts';
export { ConvergenceMonitor } from './convergence.ts';
export { type EvaluateOptions, Evaluator, type EvaluatorOptions } from './evaluator.ts';
export type { RewardModelClass } from './make-roles.ts';
export type { PPOStepResult, StepDetails } from './ppo-step.ts';
export {
  PPOTrainer,
  type PPOTrainerOptions,
  type TrainingResults,
  type TrainOptions,
} from './ppo-trainer.ts';
export type { TrainPrompt } from './read-prompts.ts';
