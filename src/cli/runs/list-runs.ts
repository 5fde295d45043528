import { statIfExists } from '../../fs/index.ts';
import { shorten } from '../train/shorten.ts';
import { formatRuns } from './format-runs.ts';
import { readRunRows } from './run-row.ts';

/** Where runs go if nobody says. */
const defaultFolder = 'runs';

interface ListFlags {
  readonly json?: boolean;
}

/** Prints the runs in folders. */
export async function listRuns(given: readonly string[], { json }: ListFlags): Promise<void> {
  for (const folder of given) await expectFolder(folder);
  const folders = given.length === 0 ? [defaultFolder] : given;
  const rows = await readRunRows(folders);
  const text = json
    ? JSON.stringify(rows)
    : rows.length === 0
      ? `There are no runs in ${folders.map(shorten).join(', ')}; "proximal train" starts one`
      : formatRuns(rows, process.stdout);
  process.stdout.write(`${text}\n`);
}

async function expectFolder(folder: string): Promise<void> {
  const stats = await statIfExists(folder);
  if (stats?.isDirectory()) return;
  const got = stats === undefined ? 'nothing there' : 'a file';
  throw new Error(
    `Cannot list the runs in ${folder}: it must be the folder of a run or of several, got ${got}`,
  );
}
