import type { Command } from 'commander';
import { sftConfigShape } from '../config/stage-config.ts';
import { sftDataShape, sftOutputShape, sftRunConfigSchema } from '../config/stage-run-config.ts';
import { addRunFlags, type RunFlags, readRunFlags, runEnds } from './run-flags.ts';

const about = `Fine-tune a language model on texts: conversations ("messages"), prompts with completions ("prompt", "completion"), or whole texts ("text"). Only what is to be written is learned, not the prompts. Values come from a config file, and flags go over them.

${runEnds}`;

const groups = {
  'Data:': sftDataShape,
  'Output:': sftOutputShape,
  'Training:': sftConfigShape,
};

/** `proximal sft`: supervised fine-tuning. */
export function addSft(program: Command): void {
  const command = program.command('sft').summary('Fine-tune a model on texts').description(about);
  addRunFlags(command, groups);
  command.action(async (flags: RunFlags) => {
    const { tuneModel } = await import('./sft/tune-model.ts');
    await tuneModel(flags, readRunFlags(command, sftRunConfigSchema));
  });
}
