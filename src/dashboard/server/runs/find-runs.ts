import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { statIfExists } from '../../../fs/index.ts';
import { stateName } from '../../../run/run-state.ts';

/** A run's folder. */
export interface FoundRun {
  /** The same wherever and whenever the folder is found. */
  readonly id: string;
  /** The path below the folder that was looked in, and more where two have the same. */
  readonly name: string;
  readonly folder: string;
}

/** How deep runs may lie in a folder. */
const DEEPEST = 2;

/** The runs in folders: each is a run itself or holds some, up to two levels deep. */
export async function findRuns(folders: readonly string[]): Promise<FoundRun[]> {
  const found = new Map<string, FoundRun>();
  for (const root of new Set(folders.map((folder) => resolve(folder)))) {
    for (const folder of await findBelow(root, DEEPEST)) {
      const id = createHash('sha256').update(folder).digest('hex').slice(0, 16);
      const name = relative(root, folder).split(sep).join('/') || basename(root);
      if (!found.has(id)) found.set(id, { id, name, folder });
    }
  }
  return tellApart([...found.values()]);
}

async function findBelow(folder: string, levels: number): Promise<string[]> {
  if ((await statIfExists(join(folder, stateName)).catch(passOver)) !== undefined) return [folder];
  if (levels === 0) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(passOver);
  const below = [];
  for (const entry of entries ?? []) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || entry.isFile()) continue;
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory() || (await stat(path).catch(passOver))?.isDirectory();
    if (isFolder) below.push(...(await findBelow(path, levels - 1)));
  }
  return below;
}

/** What cannot be read, or went away meanwhile, holds no runs. */
function passOver(error: NodeJS.ErrnoException): undefined {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(error.code ?? ''))
    return undefined;
  throw error;
}

/** Gives runs of one name a number.
 *  @example a, b, a  →  a, b, a (2) */
function tellApart(runs: readonly FoundRun[]): FoundRun[] {
  const taken = new Set<string>();
  return runs.map((run) => {
    let name = run.name;
    for (let number = 2; taken.has(name); number++) name = `${run.name} (${number})`;
    taken.add(name);
    return { ...run, name };
  });
}
