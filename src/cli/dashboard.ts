import { type Command, InvalidArgumentError } from 'commander';
import type { DashboardFlags } from './dashboard/serve-dashboard.ts';

const about = `Show runs on a local web page, as they go and after they have ended: charts, samples, every token's numbers, and labelling by people.
New runs appear by themselves. Ctrl-C ends it; runs are not touched by that.

Only this machine reaches the page unless --host says otherwise; then a token is needed, which stands in the address that is printed.`;

/** `proximal dashboard`: runs on a web page. */
export function addDashboard(program: Command): void {
  program
    .command('dashboard')
    .summary('Show runs on a local web page')
    .description(about)
    .argument('[folders...]', 'Folders of runs, or folders that hold some (default: runs)')
    .option('--host <address>', 'What to bind to', '127.0.0.1')
    .option('--port <number>', 'Port; 6060 or the next free one if not given', readPort)
    .option('--token <text>', 'What the page asks for; random where --host lets others in')
    .option('--labels <folder>', 'Folder of what people label', 'labels')
    .action(async (folders: string[], flags: DashboardFlags) => {
      const { serveDashboard } = await import('./dashboard/serve-dashboard.ts');
      await serveDashboard(folders, flags);
    });
}

/** A port that is given as a flag. */
export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}
