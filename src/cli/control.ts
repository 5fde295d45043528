import { Argument, type Command } from 'commander';
import { type RunCommand, requestControl, runCommands } from '../run/run-control.ts';
import { quote, shorten } from './train/shorten.ts';

const about = `Steer a run that goes on in another process, of proximal train, sft or reward:
  pause   wait before the next step
  resume  go on after a pause
  save    save a checkpoint after this step
  stop    end after this step with everything saved; --resume goes on with the run`;

/** What a run is going to do. */
const answers: Readonly<Record<RunCommand, string>> = {
  pause: 'pauses before its next step',
  resume: 'goes on',
  save: 'saves a checkpoint after this step',
  stop: 'ends after this step',
};

/** `proximal control`: a living run is told what to do. */
export function addControl(program: Command): void {
  program
    .command('control')
    .summary('Pause, resume, save or stop a run in another process')
    .description(about)
    .argument('<run>', "The run's folder")
    .addArgument(new Argument('<command>', 'What to do').choices(runCommands))
    .action(async (folder: string, command: RunCommand) => {
      await requestControl(folder, command);
      process.stdout.write(`${quote(shorten(folder))} ${answers[command]}\n`);
    });
}
