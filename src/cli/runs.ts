import type { Command } from 'commander';

const about = `List the runs in folders (runs if none is given): what they are, how far they came, how they ended.`;

const aboutCompare = `Show runs side by side: the numbers of their last step and of their last evaluation, and the settings that differ.`;

interface Flags {
  readonly json?: boolean;
}

/** `proximal runs`: what has been trained. */
export function addRuns(program: Command): void {
  const runs = program
    .command('runs')
    .summary('List runs, and compare them')
    .description(about)
    .argument('[folders...]', 'Folders of runs, or folders that hold some')
    .option('--json', 'Print one JSON array')
    .action(async (folders: string[], flags: Flags) => {
      const { listRuns } = await import('./runs/list-runs.ts');
      await listRuns(folders, flags);
    });
  runs
    .command('compare')
    .summary('Show runs side by side')
    .description(aboutCompare)
    .argument('<folders...>', 'Folders of two runs or more')
    .option('--json', 'Print one JSON object')
    .action(async (folders: string[], _: Flags, command: Command) => {
      if (folders.length < 2) command.error('error: two runs or more must be given, got one');
      const { compareRuns } = await import('./runs/run-comparison.ts');
      const { formatComparison } = await import('./runs/format-comparison.ts');
      const comparison = await compareRuns(folders);
      const { json } = command.optsWithGlobals<Flags>();
      const text = json ? JSON.stringify(comparison) : formatComparison(comparison, process.stdout);
      process.stdout.write(`${text}\n`);
    });
}
