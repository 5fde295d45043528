import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists, readTextIfExists } from '../../fs/index.ts';

import { indexName } from './model-files.ts';
import { RepoCache } from './repo-cache.ts';

/** The files of one commit, as the cache has them. */
export interface Snapshot {
  readonly folder: string;
  /** What a model needs and this folder lacks. */
  readonly missing: readonly string[];
}

/** One model in the cache. */
export class ModelCache extends RepoCache {
  constructor(cacheDir: string, id: string) {
    super(cacheDir, { kind: 'models', id });
  }

  /** What a branch, tag or commit meant when it was last downloaded. */
  async findSnapshot(revision: string): Promise<Snapshot | undefined> {
    const commit = await this.findCommit(revision);
    if (commit === undefined) return undefined;
    const folder = this.snapshotFolder(commit);
    return (await pathExists(folder)) ? { folder, missing: await findMissing(folder) } : undefined;
  }
}

/** Python may have fetched only a tokenizer, and any download may have been cut short. */
async function findMissing(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const wanted = ['config.json', ...(await weightNames(folder, names))];
  const there = await Promise.all(wanted.map((name) => pathExists(join(folder, name))));
  return wanted.filter((_, i) => !there[i]);
}

async function weightNames(folder: string, names: readonly string[]): Promise<string[]> {
  const whole = names.filter((name) => name.endsWith('.safetensors'));
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const index = await readTextIfExists(join(folder, indexName));
  if (index === undefined) return whole.length > 0 ? whole : ['model.safetensors'];
  const { weight_map = {} } = JSON.parse(index) as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(weight_map))].sort();
}
