import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readIfThere } from './hub-settings.ts';
import { indexName } from './model-files.ts';
import { isCommit } from './model-id.ts';

/** The files of one commit, as the cache has them. */
export interface Snapshot {
  readonly folder: string;
  /** What a model needs and this folder lacks. */
  readonly missing: readonly string[];
}

/** One model in the cache that all of Hugging Face's clients share:
 *  `refs/<revision>` holds a commit hash, `snapshots/<commit>/<file>` links to `blobs/<hash>`. */
export class ModelCache {
  private readonly root: string;

  constructor(cacheDir: string, id: string) {
    this.root = join(cacheDir, `models--${id.replace('/', '--')}`);
  }

  blobPath(hash: string): string {
    return join(this.root, 'blobs', hash);
  }

  snapshotFolder(commit: string): string {
    return join(this.root, 'snapshots', commit);
  }

  /** What a branch, tag or commit meant when it was last downloaded. */
  async findSnapshot(revision: string): Promise<Snapshot | undefined> {
    const commit = isCommit(revision)
      ? revision
      : (await readIfThere(join(this.root, 'refs', revision)))?.trim();
    if (commit === undefined || !isCommit(commit)) return undefined;
    const folder = this.snapshotFolder(commit);
    return (await isThere(folder)) ? { folder, missing: await findMissing(folder) } : undefined;
  }

  /** Makes a finished blob a file of a commit. */
  async linkBlob(hash: string, { commit, name }: { commit: string; name: string }): Promise<void> {
    const blob = this.blobPath(hash);
    const file = join(this.snapshotFolder(commit), name);
    await mkdir(dirname(file), { recursive: true });
    // Renamed into place, so that nobody ever finds the name without a file.
    const temporary = `${file}.${randomUUID()}.tmp`;
    try {
      await symlink(relative(dirname(file), blob), temporary);
    } catch (error) {
      // Windows allows symbolic links only to some users.
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
      await copyFile(blob, temporary);
    }
    await rename(temporary, file);
  }

  async writeRef(revision: string, commit: string): Promise<void> {
    if (revision === commit) return;
    const file = join(this.root, 'refs', revision);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, commit);
  }
}

/** Whether a path leads to something, through links too. */
export async function isThere(path: string): Promise<boolean> {
  return (await sizeIfThere(path)) !== undefined;
}

export async function sizeIfThere(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Python may have fetched only a tokenizer, and any download may have been cut short. */
async function findMissing(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const wanted = ['config.json', ...(await weightNames(folder, names))];
  const there = await Promise.all(wanted.map((name) => isThere(join(folder, name))));
  return wanted.filter((_, i) => !there[i]);
}

async function weightNames(folder: string, names: readonly string[]): Promise<string[]> {
  const whole = names.filter((name) => name.endsWith('.safetensors'));
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const index = await readIfThere(join(folder, indexName));
  if (index === undefined) return whole.length > 0 ? whole : ['model.safetensors'];
  const { weight_map = {} } = JSON.parse(index) as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(weight_map))].sort();
}
