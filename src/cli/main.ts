#!/usr/bin/env node
import { Command } from 'commander';
import { nearestName } from '../config/parse-config.ts';
import { version } from '../version.ts';
import { addControl } from './control.ts';
import { addDashboard } from './dashboard.ts';
import { addDemo } from './demo.ts';
import { addEvaluate } from './evaluate.ts';
import { describeFailure, exitCodes } from './failure.ts';
import { addGenerate } from './generate.ts';
import { addInit } from './init.ts';
import { addInspect } from './inspect.ts';
import { exitOnInterrupt } from './interrupt.ts';
import { addLabels } from './labels.ts';
import { addReport } from './report.ts';
import { addReward } from './reward.ts';
import { addRuns } from './runs.ts';
import { addSft } from './sft.ts';
import { addTrain } from './train.ts';

const program = new Command('proximal')
  .description('Fine-tune language models with proximal policy optimisation (PPO).')
  .version(version, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show this help')
  .helpCommand('help [command]', 'Show the help of a command')
  // Suggestions would stand on a line of their own.
  .configureOutput({ outputError: (text, write) => write(text.replace(/\n\(/, ' (')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage))
  .on('command:*', ([name = '']: string[]) => program.error(describeUnknown(name)));

const models = [addInit, addInspect, addGenerate];
const stages = [addSft, addReward, addTrain, addControl, addEvaluate, addLabels];
const views = [addDashboard, addRuns, addReport];
for (const addCommand of [addDemo, ...models, ...stages, ...views]) addCommand(program);

function describeUnknown(name: string): string {
  const nearest = nearestName(
    name,
    program.commands.map((command) => command.name()),
  );
  const remedy =
    nearest === undefined ? 'run "proximal --help" for what exists' : `did you mean "${nearest}"?`;
  return `Unknown command "${name}": ${remedy}`;
}

exitOnInterrupt();
// Whoever reads the output may have seen enough, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const hasArguments = process.argv.length > 2;
try {
  await program.parseAsync(hasArguments ? process.argv : [...process.argv, '--help']);
} catch (error) {
  const { text, exitCode } = describeFailure(error);
  process.stderr.write(text);
  process.exitCode = exitCode;
}
