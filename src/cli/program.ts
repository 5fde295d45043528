import { Command, CommanderError } from 'commander';
import { nearestName } from '../config/parse-config.ts';
import { version } from '../version.ts';
import { describeFailure, exitCodes } from './exit.ts';
import { keysAsFlags } from './flag-names.ts';

/** A command's line in the help, and the module that defines its flags and action. */
interface CommandEntry {
  readonly summary: string;
  load(): Promise<(command: Command) => void>;
}

/** All commands in the order of the help. Only the ones named on the command line are loaded. */
const commands: Readonly<Record<string, CommandEntry>> = {
  demo: {
    summary: 'Watch a small model learn, in about two minutes',
    load: async () => (await import('./demo.ts')).addDemo,
  },
  init: {
    summary: 'Create a model with random weights',
    load: async () => (await import('./init.ts')).addInit,
  },
  inspect: {
    summary: 'Show the architecture, parameters and memory of a model',
    load: async () => (await import('./inspect.ts')).addInspect,
  },
  generate: {
    summary: 'Generate text from prompts',
    load: async () => (await import('./generate.ts')).addGenerate,
  },
  sft: {
    summary: 'Fine-tune a model on texts',
    load: async () => (await import('./sft.ts')).addSft,
  },
  reward: {
    summary: 'Train a reward model on preferences',
    load: async () => (await import('./reward.ts')).addReward,
  },
  train: {
    summary: 'Fine-tune a model with PPO',
    load: async () => (await import('./train.ts')).addTrain,
  },
  worker: {
    summary: 'Run jobs of training runs on this machine',
    load: async () => (await import('./worker.ts')).addWorker,
  },
  workers: {
    summary: 'List connected workers and the runs that they work for',
    load: async () => (await import('./workers.ts')).addWorkers,
  },
  merge: {
    summary: 'Merge an adapter into its base and write a whole model',
    load: async () => (await import('./merge.ts')).addMerge,
  },
  control: {
    summary: 'Pause, resume, save or stop a run in another process',
    load: async () => (await import('./control.ts')).addControl,
  },
  evaluate: {
    summary: 'Compare a policy with its reference',
    load: async () => (await import('./evaluate.ts')).addEvaluate,
  },
  labels: {
    summary: 'List, create and export labelling queues',
    load: async () => (await import('./labels.ts')).addLabels,
  },
  dashboard: {
    summary: 'Show runs on a local web page',
    load: async () => (await import('./dashboard.ts')).addDashboard,
  },
  runs: {
    summary: 'List and compare runs',
    load: async () => (await import('./runs.ts')).addRuns,
  },
  report: {
    summary: 'Write a run as one HTML file to share',
    load: async () => (await import('./report.ts')).addReport,
  },
};

/** Runs `proximal` with these arguments. Returns the exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const program = await createProgram(args);
  try {
    await program.parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed the help or its own error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const command = program.commands.find((other) => other.name() === args[0]);
    const { text, exitCode } = describeFailure(error, command && keysAsFlags(command));
    process.stderr.write(text);
    return exitCode;
  }
}

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('proximal')
    .description('Fine-tune language models with proximal policy optimisation (PPO).')
    .version(version, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand('help [command]', 'Show the help of a command')
    .configureOutput({ outputError: (text, write) => write(restyleError(text)) })
    .exitOverride()
    .on('command:*', ([name = '']: string[]) => program.error(describeUnknown(name)));
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary);
    if (args.includes(name)) (await load())(command);
  }
  return program;
}

/** Commander's errors in our words. Other texts are unchanged.
 *  @example "error: unknown option '--jsn'\n(Did you mean --json?)"
 *    →  'Unknown flag "--jsn": did you mean "--json"?' */
function restyleError(text: string): string {
  return text
    .replace(
      /^error: unknown option '(.*)'(?:\s+\(Did you mean (?:one of )?(.*)\?\))?/,
      (_, flag: string, nearest = '') =>
        `Unknown flag "${flag}": ${nearest === '' ? 'run the command with --help to see all flags' : `did you mean "${nearest.replaceAll(', ', '" or "')}"?`}`,
    )
    .replace(
      /^error: required option '(?:--\S+, )?(--\S+).*' not specified/,
      'Cannot start: $1 must be set, got nothing',
    )
    .replace(
      /^error: option '(?:--\S+, )?(--\S+).*' argument missing/,
      'Cannot use $1: it must have a value, got nothing',
    )
    .replace(
      /^error: option '(?:--\S+, )?(--\S+).*' argument '(.*)' is invalid\. It/,
      'Cannot use $1: got "$2", it',
    )
    .replace(
      /^error: missing required argument '(.*)'/,
      'Cannot start: <$1> must be set, got nothing',
    )
    .replace(
      /^error: too many arguments for '(.*)'. Expected (\d+) arguments? but got (\d+)\./,
      'Cannot start $1: it takes $2 arguments besides flags, got $3',
    );
}

function describeUnknown(name: string): string {
  const nearest = nearestName(name, Object.keys(commands));
  const remedy =
    nearest === undefined
      ? 'run "proximal --help" to see all commands'
      : `did you mean "${nearest}"?`;
  return `Unknown command "${name}": ${remedy}`;
}
