import type { Command } from 'commander';
import { dataConfigShape } from '../config/data-config.ts';
import { ppoConfigShape } from '../config/ppo-config.ts';
import { runConfigSchema, runOwnShape } from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import { addRunFlags, type RunFlags, readRunFlags, runEnds } from './run-flags.ts';

const about = `Fine-tune a language model by PPO. Values come from a config file, and flags go over them.

${runEnds}`;

const groups = {
  'Prompts:': dataConfigShape,
  'Rewards and output:': runOwnShape,
  'Course of the run:': trainingConfigShape,
  'PPO:': ppoConfigShape,
};

/** `proximal train`: a run of PPO. */
export function addTrain(program: Command): void {
  const command = program.command('train').summary('Fine-tune a model by PPO').description(about);
  addRunFlags(command, groups);
  command.action(async (flags: RunFlags) => {
    const { trainModel } = await import('./train/train-model.ts');
    await trainModel(flags, readRunFlags(command, runConfigSchema));
  });
}
