import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { readIfThere } from '../base-setup/hub/hub-settings.ts';
import { isThere } from '../base-setup/hub/model-cache.ts';
import { isCommit } from '../base-setup/hub/model-id.ts';

/** One dataset in the cache that all of Hugging Face's clients share:
 *  `refs/<revision>` holds a commit hash, `snapshots/<commit>/<file>` links to `blobs/<hash>`. */
export class DatasetCache {
  private readonly root: string;

  constructor(cacheDir: string, id: string) {
    this.root = join(cacheDir, `datasets--${id.replace('/', '--')}`);
  }

  blobPath(hash: string): string {
    return join(this.root, 'blobs', hash);
  }

  filePath(commit: string, name: string): string {
    return join(this.root, 'snapshots', commit, name);
  }

  /** What a revision meant when it was last downloaded. */
  async findCommit(revision: string): Promise<string | undefined> {
    if (isCommit(revision)) return revision;
    const commit = (await readIfThere(join(this.root, 'refs', revision)))?.trim();
    return commit !== undefined && isCommit(commit) ? commit : undefined;
  }

  /** The files of a commit that are here. */
  async listFiles(commit: string): Promise<string[]> {
    const folder = this.filePath(commit, '');
    if (!(await isThere(folder))) return [];
    const names = await readdir(folder, { recursive: true });
    return names.map((name) => name.split(sep).join('/'));
  }

  /** Makes a finished blob a file of a commit. */
  async linkBlob(hash: string, { commit, name }: { commit: string; name: string }): Promise<void> {
    const blob = this.blobPath(hash);
    const file = this.filePath(commit, name);
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
