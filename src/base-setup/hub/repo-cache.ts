import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readTextIfExists } from '../../fs/index.ts';
import { isCommit } from './model-id.ts';

/** One model or dataset in the cache that all of Hugging Face's clients share:
 *  `refs/<revision>` holds a commit hash, `snapshots/<commit>/<file>` links to `blobs/<hash>`. */
export class RepoCache {
  private readonly root: string;

  /** @param kind how the cache names folders of this kind, such as `models` */
  constructor(cacheDir: string, { kind, id }: { kind: 'models' | 'datasets'; id: string }) {
    this.root = join(cacheDir, `${kind}--${id.replace('/', '--')}`);
  }

  blobPath(hash: string): string {
    return join(this.root, 'blobs', hash);
  }

  snapshotFolder(commit: string): string {
    return join(this.root, 'snapshots', commit);
  }

  /** What a branch, tag or commit meant when it was last downloaded. */
  async findCommit(revision: string): Promise<string | undefined> {
    if (isCommit(revision)) return revision;
    const commit = (await readTextIfExists(join(this.root, 'refs', revision)))?.trim();
    return commit !== undefined && isCommit(commit) ? commit : undefined;
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
