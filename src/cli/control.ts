import { Argument, type Command } from 'commander';
import { type RunCommand, requestControl, runCommands } from '../run/run-control.ts';
import { shellQuote, shortPath } from './format.ts';

const about = `Control a run of proximal train, sft or reward in another process:
  pause   pause before the next step
  resume  continue after a pause
  save    save a checkpoint after this step
  stop    save and stop after this step; --resume continues the run`;

/** What the run will do. */
const replies: Readonly<Record<RunCommand, string>> = {
  pause: 'will pause before its next step',
  resume: 'will continue',
  save: 'will save a checkpoint after this step',
  stop: 'will stop after this step',
};

/** `proximal control`: controls a run in another process. */
export function addControl(command: Command): void {
  command
    .description(about)
    .argument('<run>', "The run's folder")
    .addArgument(new Argument('<command>', 'What to do').choices(runCommands))
    .action(async (folder: string, request: RunCommand) => {
      await requestControl(folder, request);
      process.stdout.write(`${shellQuote(shortPath(folder))} ${replies[request]}\n`);
    });
}
