import { dirname } from 'node:path';
import type { RunFlags } from '../run-flags.ts';

interface Shown {
  readonly flags: Pick<RunFlags, 'dashboard'>;
  /** Where the run lies; runs beside it are shown too. */
  readonly folder: string;
}

/** Does a run while a dashboard in the same process shows it, if a flag asks for that. The page ends
 *  with the run: the process does, too. */
export async function withDashboard<T>(
  { flags, folder }: Shown,
  run: () => Promise<T>,
): Promise<T> {
  const { dashboard: asked } = flags;
  if (asked === undefined) return run();
  const { startDashboard } = await import('../../dashboard/server/start-dashboard.ts');
  const { tellError } = await import('./serve-dashboard.ts');
  const { tellPlace } = await import('./tell-place.ts');
  const port = asked === true ? undefined : asked;
  const dashboard = await startDashboard({ folders: [dirname(folder)], port, onError: tellError });
  tellPlace(dashboard, { port, output: process.stderr });
  try {
    return await run();
  } finally {
    await dashboard.close();
  }
}
