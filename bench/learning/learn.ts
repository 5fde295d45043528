import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { Performance } from '../../src/loop/evaluation-report.ts';
import { PPOTrainer } from '../../src/ppo-trainer/ppo-trainer.ts';
import { round } from '../measure.ts';
import { makeBase } from './base-model.ts';
import type { Task } from './tasks.ts';
import { makePrompts } from './words.ts';

/** Results of one run on held-out prompts. */
export interface Learned {
  /** Mean score of sampled responses, before the first step and after the last. */
  readonly before: number;
  readonly after: number;
  /** Mean KL per response from the reference, at the end. */
  readonly kl: number;
  /** Explained variance of the values, at the end. */
  readonly explained_variance: number;
}

export interface LearnOptions {
  /** Seeds the weights, prompts, adapters, samples and their order. */
  readonly seed: number;
  /** Replaces the task's β. */
  readonly klCoef?: number | undefined;
  readonly scoreNormalization?: PPOConfigOptions['scoreNormalization'];
  readonly onStep?: ((step: number, totalSteps: number) => void) | undefined;
}

/** Number of training prompts, and of evaluation prompts with several responses each. */
const TRAINING_PROMPTS = 128;
const VALIDATION_PROMPTS = 16;
const VALIDATION_SAMPLES = 8;

/** Trains an untrained model on a task with PPO and evaluates it before and after. */
export async function learn(task: Task, options: LearnOptions): Promise<Learned> {
  const { seed, klCoef = task.config.klCoef, scoreNormalization = 'none', onStep } = options;
  const counts = { training: TRAINING_PROMPTS, validation: VALIDATION_PROMPTS };
  const { training, validation } = makePrompts(seed, counts);
  const model = makeBase(seed);
  const config = { ...task.config, seed, klCoef, scoreNormalization };
  const trainer = new PPOTrainer(config, { model, rewards: task.reward });
  const evaluations: Performance[] = [];
  await trainer.train(training, {
    numEpochs: task.steps,
    maxSteps: task.steps,
    validationPrompts: validation,
    evalInterval: 0,
    evalBestOf: VALIDATION_SAMPLES,
    stopOnCollapse: false,
    onEvent: (event) => {
      if (event.type === 'step') onStep?.(event.step, task.steps);
      if (event.type === 'evaluation') evaluations.push(event.report!.performance);
    },
  });
  await trainer.dispose();
  await model.base.dispose();
  return toLearned(evaluations);
}

function toLearned(evaluations: readonly Performance[]): Learned {
  const [first, last] = [evaluations[0]!, evaluations.at(-1)!];
  return {
    before: round(first.reward),
    after: round(last.reward),
    kl: round(last.kl, 2),
    explained_variance: round(last.explainedVariance),
  };
}
