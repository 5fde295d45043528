import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathExists, readTextIfExists } from '../../fs/index.ts';
import { isCommit } from './hub-settings.ts';

/** A model or dataset in the cache that all Hugging Face clients share:
 *  `refs/<revision>` contains a commit hash, `snapshots/<commit>/<file>` links to `blobs/<hash>`. */
export class RepoCache {
  private readonly root: string;

  /** @param kind the start of the folder name in the cache */
  constructor(cacheDir: string, { kind, id }: { kind: 'models' | 'datasets'; id: string }) {
    this.root = join(cacheDir, `${kind}--${id.replace('/', '--')}`);
  }

  blobPath(hash: string): string {
    return join(this.root, 'blobs', hash);
  }

  snapshotFolder(commit: string): string {
    return join(this.root, 'snapshots', commit);
  }

  /** The commit that a branch, tag or commit referred to at its last download. */
  async findCommit(revision: string): Promise<string | undefined> {
    if (isCommit(revision)) return revision;
    const commit = (await readTextIfExists(join(this.root, 'refs', revision)))?.trim();
    return commit !== undefined && isCommit(commit) ? commit : undefined;
  }

  /** Links a finished blob as a file of a commit. */
  async linkBlob(hash: string, { commit, name }: { commit: string; name: string }): Promise<void> {
    const blob = this.blobPath(hash);
    const file = join(this.snapshotFolder(commit), name);
    await mkdir(dirname(file), { recursive: true });
    // Renamed at the end, so the name never exists without its file.
    const temporary = `${file}.${randomUUID()}.tmp`;
    try {
      await symlink(relative(dirname(file), blob), temporary);
    } catch (error) {
      // Windows allows only some users to create symbolic links.
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

/** The cached files of one commit. */
export interface Snapshot {
  readonly folder: string;
  /** Files that the model needs but the folder does not have. */
  readonly missing: readonly string[];
}

/** A model in the cache. */
export class ModelCache extends RepoCache {
  constructor(cacheDir: string, id: string) {
    super(cacheDir, { kind: 'models', id });
  }

  /** The snapshot that a branch, tag or commit referred to at its last download. */
  async findSnapshot(revision: string): Promise<Snapshot | undefined> {
    const commit = await this.findCommit(revision);
    if (commit === undefined) return undefined;
    const folder = this.snapshotFolder(commit);
    return (await pathExists(folder)) ? { folder, missing: await findMissing(folder) } : undefined;
  }
}

/** Python may have downloaded only the tokenizer, and any download may have been interrupted. */
async function findMissing(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return findMissingFiles(folder, ['config.json', ...(await weightNames(folder, names))]);
}

/** The names of files that a folder does not have. */
export async function findMissingFiles(
  folder: string,
  names: readonly string[],
): Promise<string[]> {
  const exists = await Promise.all(names.map((name) => pathExists(join(folder, name))));
  return names.filter((_, i) => !exists[i]);
}

async function weightNames(folder: string, names: readonly string[]): Promise<string[]> {
  const weights = names.filter((name) => name.endsWith('.safetensors'));
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const index = await readTextIfExists(join(folder, indexName));
  if (index === undefined) return weights.length > 0 ? weights : ['model.safetensors'];
  const { weight_map = {} } = JSON.parse(index) as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(weight_map))].sort();
}

/** Small files that a model may have in addition to config.json. */
const optionalNames = [
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];

const indexName = 'model.safetensors.index.json';

/** The files of a repository that belong to a model, in the order of download. The weights come last,
 *  so an interrupted download never looks complete.
 *  @example ['model.safetensors', 'pytorch_model.bin', 'config.json', 'README.md']
 *    →  ['config.json', 'model.safetensors'] */
export function selectModelFiles(names: readonly string[]): string[] {
  const small = ['config.json', ...optionalNames].filter((name) => names.includes(name));
  return [...small, ...selectWeights(names)];
}

/** A single file takes precedence over shards, as in transformers. A repository may have the weights
 *  in both forms and again as `consolidated.safetensors`, each at full size. */
function selectWeights(names: readonly string[]): string[] {
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const all = names.filter((name) => /^[^/]+\.safetensors$/.test(name)).sort();
  if (!names.includes(indexName)) return all;
  const shards = all.filter((name) => /^model-\d+-of-\d+\./.test(name));
  return [indexName, ...(shards.length > 0 ? shards : all)];
}
