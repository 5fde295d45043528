import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Arena } from './arena.ts';
import type { DashboardReport } from './dashboard-process.ts';
import { programVariables } from './runs.ts';

const program = fileURLToPath(new URL('./dashboard-process.ts', import.meta.url));

/** Its folders. */
export interface DashboardFolders {
  readonly runs: string;
  readonly page: string;
  readonly labels: string;
}

/** Starts a dashboard in its own process and waits until it answers. */
export async function startDashboardProcess(
  arena: Arena,
  { runs, page, labels }: DashboardFolders,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = arena.own(
    fork(program, [runs, page, labels], {
      cwd: labels,
      env: programVariables(arena),
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('Cannot start the dashboard: its process ended')));
    child.once('message', (report: DashboardReport) =>
      'port' in report ? resolve(report.port) : reject(new Error(report.error)),
    );
  });
  return { child, port };
}
