import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { downloadFiles } from '../base-setup/hub/download-files.ts';
import { HubClient, type HubFile } from '../base-setup/hub/hub-client.ts';
import {
  type HubOptions,
  type HubSettings,
  isCommit,
  readHubSettings,
} from '../base-setup/hub/hub-settings.ts';
import { type DownloadProgress, HubError } from '../base-setup/hub/index.ts';
import { RepoCache } from '../base-setup/hub/repo-cache.ts';
import { pathExists } from '../fs/index.ts';
import type { DataFile } from './data-row.ts';
import { chooseDataFiles, type DatasetId, findMissingParts } from './dataset-files.ts';

export interface ResolveDatasetOptions extends HubOptions {
  /** `train` by default. */
  readonly split?: string;
  /** Called for each chunk that arrives. */
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Called with each file before its rows are read, local files included. */
  readonly onFile?: ((file: DataFile) => void) | undefined;
}

interface SplitRequest {
  readonly dataset: DatasetId & { readonly split: string };
  readonly settings: HubSettings;
  readonly cache: DatasetCache;
  readonly onProgress: ResolveDatasetOptions['onProgress'];
}

/** Returns the files of a split, found in Hugging Face's cache or downloaded into it.
 *
 *  Asks the hub for the current commit of the revision and downloads only missing files. If the hub
 *  cannot be reached or denies access, the cached files are used, as for models. */
export async function resolveDataset(
  id: DatasetId,
  options: ResolveDatasetOptions = {},
): Promise<readonly DataFile[]> {
  const { split = 'train', onProgress } = options;
  const settings = await readHubSettings(options);
  const cache = new DatasetCache(settings.cacheDir, id.id);
  const wanted: SplitRequest = { dataset: { ...id, split }, settings, cache, onProgress };
  if (settings.offline) return findCached(wanted);
  try {
    return await download(wanted);
  } catch (error) {
    if (!(error instanceof HubError) || error.failure === 'final') throw error;
    if ((await cache.findCommit(id.revision)) === undefined) throw error;
    return findCached(wanted);
  }
}

async function download({ dataset, ...wanted }: SplitRequest): Promise<DataFile[]> {
  const { settings, cache } = wanted;
  const client = new DatasetClient(settings, dataset);
  const commit = await client.findDatasetCommit();
  const files = await client.listDatasetFiles(commit);
  const names = chooseDataFiles(
    files.map(({ name }) => name),
    dataset,
  );
  const there = await Promise.all(names.map((name) => pathExists(cache.filePath(commit, name))));
  const missing = names.filter((_, i) => !there[i]);
  await downloadFiles(
    files.filter(({ name }) => missing.includes(name)),
    { ...wanted, client, commit, id: dataset.id },
  );
  // Written last, so the revision refers to the old files until all new ones are complete.
  await cache.writeRef(dataset.revision, commit);
  return toDataFiles(names, { ...wanted, dataset, commit });
}

async function findCached(wanted: SplitRequest): Promise<DataFile[]> {
  const { dataset, settings, cache } = wanted;
  const commit = await cache.findCommit(dataset.revision);
  const names = commit === undefined ? [] : await cache.listFiles(commit);
  const fail = (got: string) =>
    new Error(
      `Cannot find ${dataset.id} at revision "${dataset.revision}" offline: it must be in the cache ${settings.cacheDir}, got ${got}; download it once without HF_HUB_OFFLINE and offline: true`,
    );
  if (commit === undefined || names.length === 0) throw fail('nothing');
  const chosen = chooseDataFiles(names, dataset);
  const missing = findMissingParts(chosen);
  if (missing.length > 0) throw fail(`a copy without ${missing.join(', ')}`);
  return toDataFiles(chosen, { ...wanted, commit });
}

function toDataFiles(
  names: readonly string[],
  { dataset, cache, commit }: SplitRequest & { readonly commit: string },
): DataFile[] {
  return names.map((name) => ({
    path: cache.filePath(commit, name),
    name: `${dataset.id}/${name}`,
  }));
}

/** A dataset in the cache. */
class DatasetCache extends RepoCache {
  constructor(cacheDir: string, id: string) {
    super(cacheDir, { kind: 'datasets', id });
  }

  filePath(commit: string, name: string): string {
    return join(this.snapshotFolder(commit), name);
  }

  /** The cached files of a commit. */
  async listFiles(commit: string): Promise<string[]> {
    const folder = this.snapshotFolder(commit);
    if (!(await pathExists(folder))) return [];
    const names = await readdir(folder, { recursive: true });
    return names.map((name) => name.split(sep).join('/'));
  }
}

/** Requests to the hub about one dataset. */
class DatasetClient extends HubClient {
  private readonly dataset: DatasetId;
  private readonly hub: HubSettings;

  constructor(hub: HubSettings, dataset: DatasetId) {
    const { id, revision } = dataset;
    // The hub's URLs of datasets have this prefix.
    super(hub, { id: `datasets/${id}`, revision });
    this.hub = hub;
    this.dataset = dataset;
  }

  /** The current commit of the revision. */
  async findDatasetCommit(): Promise<string> {
    const { id: name, revision } = this.dataset;
    const { endpoint: hubUrl } = this.hub;
    const { datasetInfo, HubApiError } = await import('@huggingface/hub');
    try {
      const additionalFields: 'sha'[] = ['sha'];
      const { fetch } = this;
      const { sha } = await datasetInfo({ name, revision, hubUrl, additionalFields, fetch });
      if (isCommit(sha)) return sha;
      throw this.unexpectedDatasetAnswer('a commit hash', sha);
    } catch (cause) {
      if (!(cause instanceof HubApiError) || cause.statusCode !== 404) throw this.explain(cause);
      throw new Error(
        `Cannot find ${name}: it must be a file, or a dataset on ${hubUrl} with a revision "${revision}", got neither`,
        { cause },
      );
    }
  }

  /** All files of a commit, including those in folders. */
  async listDatasetFiles(commit: string): Promise<HubFile[]> {
    const { endpoint: hubUrl } = this.hub;
    const repo = { type: 'dataset', name: this.dataset.id } as const;
    const { listFiles } = await import('@huggingface/hub');
    const { fetch } = this;
    const files: HubFile[] = [];
    try {
      const entries = listFiles({ repo, revision: commit, recursive: true, hubUrl, fetch });
      for await (const { type, path: name, size, oid, lfs } of entries) {
        if (type !== 'file') continue;
        files.push({ name, size: lfs?.size ?? size, hash: lfs?.oid ?? oid ?? '' });
      }
    } catch (cause) {
      throw this.explain(cause);
    }
    // Both become file names in the cache.
    const invalid = files.find(({ name, hash }) => !isSafe(name) || !isHash(hash));
    if (invalid !== undefined)
      throw this.unexpectedDatasetAnswer('names and hashes of files', invalid.name);
    return files;
  }

  private unexpectedDatasetAnswer(expected: string, got: string): Error {
    return new Error(
      `Cannot download ${this.dataset.id}: ${this.hub.endpoint} must return ${expected}, got "${got}"; check HF_ENDPOINT`,
    );
  }
}

function isSafe(name: string): boolean {
  return name.split('/').every((part) => !/^\.{0,2}$|\\/.test(part));
}

function isHash(hash: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash);
}
