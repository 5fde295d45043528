import { resolve } from 'node:path';
import { type FoundRun, findRuns } from '../../dashboard/server/runs/find-runs.ts';

/** The run whose folder was named.
 *  @param action what cannot be done without it, such as `compare` */
export async function expectRun(folder: string, action: string): Promise<FoundRun> {
  const found = await findRuns([folder]);
  const run = found.find((other) => other.folder === resolve(folder));
  if (run !== undefined) return run;
  const inside = found.slice(0, 3).map(({ name }) => name);
  const remedy =
    inside.length === 0
      ? '"proximal runs" lists those in a folder'
      : `there are runs in it: ${inside.join(', ')}${found.length > 3 ? ', …' : ''}`;
  throw new Error(
    `Cannot ${action} ${folder}: it must be the folder of a run, got none with a run.json; ${remedy}`,
  );
}
