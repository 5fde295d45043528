import { type Command, Option } from 'commander';
import { z } from 'zod';
import { dataConfigShape } from '../config/data-config.ts';
import { ppoConfigShape } from '../config/ppo-config.ts';
import { runConfigSchema, runOwnShape } from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';
import type { TrainFlags } from './train/train-flags.ts';

const about = `Fine-tune a language model by PPO. Values come from a config file, and flags go over them.

Ctrl-C ends the run in order, so that --resume goes on exactly; a second Ctrl-C ends it at once.
Exit codes: 0 done, 1 failed, 2 wrong flags or config, 130 interrupted.`;

const groups = {
  'Prompts:': dataConfigShape,
  'Rewards and output:': runOwnShape,
  'Course of the run:': trainingConfigShape,
  'PPO:': ppoConfigShape,
};

/** `proximal train`: a run of PPO. */
export function addTrain(program: Command): void {
  const command = program
    .command('train')
    .summary('Fine-tune a model by PPO')
    .description(about)
    .option('--config <file>', 'Config file: .yaml, .json, .ts or .js with the keys of the flags')
    .option('--resume <folder>', 'Go on with the run in this folder, as it began')
    .option('--dry-run', 'Show what the run would be, and train nothing')
    .option('--json', 'Print each event as a line of JSON');
  for (const [heading, shape] of Object.entries(groups)) {
    command.optionsGroup(heading);
    addSchemaOptions(command, z.strictObject(shape));
  }
  addModelFlag(command);
  command.action(async (flags: TrainFlags) => {
    const { trainModel } = await import('./train/train-model.ts');
    const { model, ...rest } = flags;
    const given = readSchemaOptions(command, runConfigSchema);
    await trainModel(rest, model === undefined ? given : { modelName: model, ...given });
  });
}

/** Gives a command `--model`, as others have, for what configs call `modelName`. */
export function addModelFlag(command: Command): void {
  const long = command.options.find((option) => option.long === '--model-name')!;
  long.hideHelp();
  const flag = new Option('--model <model>', long.description);
  const standard: unknown = long.defaultValue;
  command.addOption(flag.helpGroup('Prompts:'));
  if (standard !== undefined) flag.description += ` (default: ${JSON.stringify(standard)})`;
}
