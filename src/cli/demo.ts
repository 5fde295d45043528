import { once } from 'node:events';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createDemoFolder, type DemoFolder, openDemoFolder } from '../demo/demo-folder.ts';
import { type DemoStage, runDemo } from '../demo/demo-run.ts';
import { defaultOutput } from '../run/run-config-files.ts';
import { addDashboardFlags, type DashboardFlags } from './dashboard-flags.ts';
import { formatDemo } from './demo-summary.ts';
import { untilInterrupted } from './exit.ts';
import { shellQuote, shortPath } from './format.ts';
import { outliveOutput } from './output-errors.ts';
import { commandLine } from './program-command.ts';
import { ProgressView } from './progress.ts';
import { bold, dim } from './terminal.ts';

const about = `Watch a small language model learn to summarise posts, without a network: a reward model is
trained on preferences, PPO optimises its score, and a gold scorer that training never sees measures the result.

Ctrl-C, SIGTERM and a closed terminal stop the demo cleanly, so that --resume continues it; a second Ctrl-C stops it immediately.`;

interface DemoFlags extends DashboardFlags {
  readonly output?: string;
  readonly resume?: string;
  readonly seed: number;
  readonly short?: boolean;
}

/** `proximal demo`: the whole pipeline on the embedded model. */
export function addDemo(command: Command): void {
  command
    .description(about)
    .option('--output <folder>', 'New folder for the runs; runs/demo-<time> by default')
    .addOption(
      new Option('--resume <folder>', 'Continue the demo in this folder').conflicts([
        'output',
        'seed',
        'short',
      ]),
    )
    .option('--seed <number>', 'The same seed repeats the same run', parseSeed, 0)
    .option('--short', 'Train for a few steps only, to check that everything works')
    .action(showDemo);
  addDashboardFlags(command, 'Show the runs on a local web page, until Ctrl-C after the end');
}

function parseSeed(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const titles: Readonly<Record<DemoStage, string>> = {
  reward: '1  Train a reward model on pairs of summaries, one of which people prefer',
  ppo: '2  Train the model with PPO to write summaries with a higher reward',
  gold: '3  Score summaries of new posts with a gold scorer that training never saw',
};

/** Runs the demo and prints its progress and result. */
async function showDemo(flags: DemoFlags): Promise<void> {
  const { output, resume, dashboard, tokenFile, ...settings } = flags;
  const folder =
    resume === undefined
      ? await createDemoFolder(output ?? defaultOutput('demo'), settings)
      : await openDemoFolder(resume);
  outliveOutput();
  await untilInterrupted(async (signal) => {
    if (dashboard === undefined) return printDemo(folder, { signal });
    const { withDashboard } = await import('./dashboard.ts');
    // The page shows every run next to this one.
    const shown = { folder: join(folder.path, 'ppo'), port: dashboard, tokenFile };
    await withDashboard(shown, async () => {
      await printDemo(folder, { signal, flag: ' --dashboard' });
      process.stderr.write(`\n${dim('Press Ctrl-C to stop the dashboard', process.stderr)}\n`);
      if (!signal.aborted) await once(signal, 'abort');
    });
  });
}

interface PrintOptions {
  readonly signal: AbortSignal;
  /** What to add to the command that resumes the demo. */
  readonly flag?: string;
}

async function printDemo(folder: DemoFolder, { signal, flag = '' }: PrintOptions): Promise<void> {
  let view = new ProgressView();
  const warn = () => view.print('Stopping after saving; press Ctrl-C again to stop immediately');
  signal.addEventListener('abort', warn);
  try {
    const result = await runDemo(folder, {
      signal,
      onStage: (stage) => {
        view.clear();
        view = new ProgressView();
        process.stderr.write(`\n${bold(titles[stage], process.stderr)}\n`);
      },
      onEvent: (_, event) => view.handle(event),
    });
    process.stdout.write(`\n${formatDemo(result, process.stdout)}\n`);
  } catch (error) {
    view.clear();
    const resume = commandLine(`demo --resume ${shellQuote(shortPath(folder.path))}${flag}`);
    const reason = signal.aborted
      ? 'The demo was interrupted and can be resumed'
      : 'The demo failed. Fix the cause, then continue';
    process.stdout.write(`${reason}:\n  ${resume}\n`);
    throw error;
  } finally {
    signal.removeEventListener('abort', warn);
  }
}
