import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { statIfExists } from '../../../fs/index.ts';
import { stateName } from '../../../run/run-state.ts';

/** A run's folder. */
export interface FoundRun {
  /** Derived from the folder, so it never changes. */
  readonly id: string;
  /** Path relative to the searched folder, with a number if another run has the same. */
  readonly name: string;
  readonly folder: string;
}

/** Number of folder levels that are searched. */
const MAX_DEPTH = 2;

/** Finds the runs in folders: each folder is a run itself or contains some, up to two levels deep. */
export async function findRuns(folders: readonly string[]): Promise<FoundRun[]> {
  const found = new Map<string, FoundRun>();
  for (const root of new Set(folders.map((folder) => resolve(folder)))) {
    for (const folder of await findBelow(root, MAX_DEPTH)) {
      const id = createHash('sha256').update(folder).digest('hex').slice(0, 16);
      const name = relative(root, folder).split(sep).join('/') || basename(root);
      if (!found.has(id)) found.set(id, { id, name, folder });
    }
  }
  return makeNamesUnique([...found.values()]);
}

async function findBelow(folder: string, levels: number): Promise<string[]> {
  if ((await statIfExists(join(folder, stateName)).catch(ignoreUnreadable)) !== undefined)
    return [folder];
  if (levels === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreUnreadable);
  const below = [];
  for (const entry of entries ?? []) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || entry.isFile()) continue;
    const path = join(folder, entry.name);
    const isFolder =
      entry.isDirectory() || (await stat(path).catch(ignoreUnreadable))?.isDirectory();
    if (isFolder) below.push(...(await findBelow(path, levels - 1)));
  }
  return below;
}

/** Folders that cannot be read, or were deleted meanwhile, contain no runs. */
function ignoreUnreadable(error: NodeJS.ErrnoException): undefined {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(error.code ?? ''))
    return undefined;
  throw error;
}

/** Numbers runs with the same name.
 *  @example a, b, a  →  a, b, a (2) */
function makeNamesUnique(runs: readonly FoundRun[]): FoundRun[] {
  const taken = new Set<string>();
  return runs.map((run) => {
    let name = run.name;
    for (let number = 2; taken.has(name); number++) name = `${run.name} (${number})`;
    taken.add(name);
    return { ...run, name };
  });
}
