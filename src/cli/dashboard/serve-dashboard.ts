import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { startDashboard } from '../../dashboard/server/start-dashboard.ts';
import { statIfExists } from '../../fs/index.ts';
import { describeFailure } from '../failure.ts';
import { untilInterrupted } from '../interrupt.ts';
import { dim, showStatus } from '../terminal.ts';
import { tellPlace } from './tell-place.ts';

export interface DashboardFlags {
  readonly host: string;
  readonly port?: number;
  readonly token?: string;
  readonly labels: string;
}

const defaultFolder = 'runs';

/** Serves the dashboard until Ctrl-C. */
export async function serveDashboard(
  folders: readonly string[],
  flags: DashboardFlags,
): Promise<void> {
  for (const folder of folders) await expectFolder(folder);
  const clear = showStatus('Preparing the page');
  const dashboard = await startDashboard({
    folders: folders.length === 0 ? [defaultFolder] : folders,
    ...flags,
    onError: tellError,
  }).finally(clear);
  tellPlace(dashboard, { port: flags.port, output: process.stdout });
  if (folders.length === 0 && !existsSync(defaultFolder)) {
    process.stderr.write(
      `There is no folder ${defaultFolder} here yet; runs appear once there is one\n`,
    );
  }
  process.stderr.write(`${dim('Ctrl-C ends it', process.stderr)}\n`);
  await untilInterrupted(async (signal) => {
    if (!signal.aborted) await once(signal, 'abort');
    await dashboard.close();
  });
}

/** Tells of what went wrong inside; the dashboard goes on. */
export function tellError(error: unknown): void {
  process.stderr.write(`Dashboard: ${describeFailure(error).text}`);
}

async function expectFolder(folder: string): Promise<void> {
  const stats = await statIfExists(folder);
  if (stats?.isDirectory()) return;
  const got = stats === undefined ? 'nothing there' : 'a file';
  throw new Error(`Cannot show ${folder}: it must be a folder with runs, got ${got}`);
}
