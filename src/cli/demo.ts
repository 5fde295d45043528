import { type Command, InvalidArgumentError } from 'commander';

const about = `Watch a small language model learn to summarise posts, with no network: a reward model is
trained on preferences, PPO follows it, and a scorer that training never sees judges the result.`;

/** `proximal demo`: the whole road on the embedded model. */
export function addDemo(program: Command): void {
  program
    .command('demo')
    .summary('Watch a small model learn, in about two minutes')
    .description(about)
    .option('--output <folder>', 'Folder of the run; runs/demo-<time> if not given')
    .option('--seed <number>', 'The same seed gives the same run', readSeed, 0)
    .action(async (flags: { output?: string; seed: number }) => {
      const { showDemo } = await import('./demo/show-demo.ts');
      await showDemo(flags);
    });
}

function readSeed(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
