import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import {
  type Dashboard,
  defaultPort,
  startDashboard,
} from '../dashboard/server/start-dashboard.ts';
import { statIfExists } from '../fs/index.ts';
import { addTokenFlags, readToken } from './dashboard-flags.ts';
import { describeFailure, untilInterrupted } from './exit.ts';
import { outliveOutput } from './output-errors.ts';
import { programCommand } from './program-command.ts';
import { parsePort } from './schema-options.ts';
import { dim, type Output, showStatus } from './terminal.ts';

const about = `Show live and finished runs on a local web page: charts, samples, per-token numbers, and labelling by people.
New runs appear automatically. Ctrl-C stops the page; it does not affect runs.

The page can be reached from this machine only, unless --host says otherwise. It then requires a token, which is part of the printed address unless you set your own. Other users of this machine can reach the page too: set a token on a shared machine.`;

interface ServeFlags {
  readonly host: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly labels: string;
}

const defaultFolder = 'runs';

/** `proximal dashboard`: runs on a web page. */
export function addDashboard(command: Command): void {
  command
    .description(about)
    .argument('[folders...]', 'Folders of runs, or folders that contain runs (default: runs)')
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .option('--port <number>', `Port; ${defaultPort} or the next free one by default`, parsePort)
    .option('--labels <folder>', 'Folder of the labelling queues', 'labels')
    .action(serveDashboard);
  addTokenFlags(command);
}

/** Serves the dashboard until Ctrl-C. */
async function serveDashboard(
  folders: readonly string[],
  { tokenFile, ...flags }: ServeFlags,
): Promise<void> {
  for (const folder of folders) await expectFolder(folder);
  const token = await readToken(tokenFile);
  const hideStatus = showStatus('Preparing the page');
  const dashboard = await startDashboard({
    folders: folders.length === 0 ? [defaultFolder] : folders,
    ...flags,
    token,
    program: programCommand(),
    onError: printError,
  }).finally(hideStatus);
  outliveOutput();
  printAddress(dashboard, { port: flags.port, output: process.stdout });
  if (folders.length === 0 && !existsSync(defaultFolder)) {
    process.stderr.write(
      `There is no folder "${defaultFolder}" here yet; runs appear once it exists\n`,
    );
  }
  process.stderr.write(`${dim('Press Ctrl-C to stop', process.stderr)}\n`);
  await untilInterrupted(async (signal) => {
    if (!signal.aborted) await once(signal, 'abort');
    await dashboard.close();
  });
}

interface ShownRun {
  /** The run's folder. Runs next to it are shown too. */
  readonly folder: string;
  /** The port, or true for any. */
  readonly port: number | true;
  /** The file of the token, if any. */
  readonly tokenFile: string | undefined;
}

/** Shows a run on a dashboard in the same process until the run ends.
 *  @param run gets the address of the page */
export async function withDashboard<T>(
  { folder, port: requested, tokenFile }: ShownRun,
  run: (url: string) => Promise<T>,
): Promise<T> {
  const port = requested === true ? undefined : requested;
  const dashboard = await startDashboard({
    ...{ folders: [dirname(folder)], port, token: await readToken(tokenFile) },
    ...{ program: programCommand(), onError: printError },
  });
  printAddress(dashboard, { port, output: process.stderr });
  try {
    return await run(dashboard.url);
  } finally {
    await dashboard.close();
  }
}

interface AddressOptions {
  /** The requested port, if any. */
  readonly port: number | undefined;
  readonly output: Output;
}

/** Prints the address of the page, why it is not on the default port, and whether a token is missing in it:
 *  terminals and logs must not contain the user's own. */
export function printAddress(
  { url, port, needsToken }: Dashboard,
  { port: requested, output }: AddressOptions,
): void {
  const isMoved = requested === undefined && port !== defaultPort;
  const notes = [
    ...(isMoved ? [`port ${defaultPort} is in use`] : []),
    ...(needsToken ? ['add ?token= and your token'] : []),
  ];
  output.write(`Dashboard: ${url}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}\n`);
}

/** Prints an internal error of the dashboard, which keeps running. */
function printError(error: unknown): void {
  process.stderr.write(`Dashboard: ${describeFailure(error).text}`);
}

async function expectFolder(folder: string): Promise<void> {
  const stats = await statIfExists(folder);
  if (stats?.isDirectory()) return;
  const got = stats === undefined ? 'no such folder' : 'a file';
  throw new Error(`Cannot show ${folder}: it must be a folder with runs, got ${got}`);
}
