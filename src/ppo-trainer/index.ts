export {
  buildComponents,
  type ComponentOptions,
  type PPOComponents,
  type RolloutServers,
} from './components.ts';
export { ConvergenceMonitor } from './convergence.ts';
export { type EvaluateOptions, Evaluator, type EvaluatorOptions } from './evaluator.ts';
export { type PPOStepResult, ppoStep, type StepContext, type StepDetails } from './ppo-step.ts';
export {
  PPOTrainer,
  type PPOTrainerOptions,
  type TrainingResults,
  type TrainOptions,
} from './ppo-trainer.ts';
export type { TrainPrompt } from './read-prompts.ts';
export { rolloutServers } from './rollout-servers.ts';
