import type { Command } from 'commander';
import { rewardConfigShape } from '../config/stage-config.ts';
import {
  rewardDataShape,
  rewardOutputShape,
  rewardRunConfigSchema,
} from '../config/stage-run-config.ts';
import { addRunFlags, type RunFlags, readRunFlags, runEnds } from './run-flags.ts';

const about = `Train a reward model on what people prefer: pairs ("chosen", "rejected"), the best of several ("completions", "best"), rankings ("completions", "ranking") or ratings ("completion", "rating"). "proximal train --reward model:<run>" then takes its scores. Values come from a config file, and flags go over them.

${runEnds}`;

const groups = {
  'Data:': rewardDataShape,
  'Output:': rewardOutputShape,
  'Training:': rewardConfigShape,
};

/** `proximal reward`: a reward model from preferences. */
export function addReward(program: Command): void {
  const command = program
    .command('reward')
    .summary('Train a reward model on preferences')
    .description(about);
  addRunFlags(command, groups);
  command.action(async (flags: RunFlags) => {
    const { trainReward } = await import('./reward/train-reward.ts');
    await trainReward(flags, readRunFlags(command, rewardRunConfigSchema));
  });
}
