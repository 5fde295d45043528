import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { RepoCache } from '../base-setup/hub/repo-cache.ts';
import { pathExists } from '../fs/index.ts';

/** One dataset in the cache. */
export class DatasetCache extends RepoCache {
  constructor(cacheDir: string, id: string) {
    super(cacheDir, { kind: 'datasets', id });
  }

  filePath(commit: string, name: string): string {
    return join(this.snapshotFolder(commit), name);
  }

  /** The files of a commit that are here. */
  async listFiles(commit: string): Promise<string[]> {
    const folder = this.snapshotFolder(commit);
    if (!(await pathExists(folder))) return [];
    const names = await readdir(folder, { recursive: true });
    return names.map((name) => name.split(sep).join('/'));
  }
}
