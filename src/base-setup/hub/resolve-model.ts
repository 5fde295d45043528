import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from '../../fs/index.ts';
import { type DownloadProgress, downloadFiles } from './download-files.ts';
import { HubClient } from './hub-client.ts';
import { HubError } from './hub-error.ts';
import {
  checkModelId,
  checkRevision,
  type HubOptions,
  type HubSettings,
  readHubSettings,
} from './hub-settings.ts';
import { findMissingFiles, ModelCache, type Snapshot, selectModelFiles } from './repo-cache.ts';

/** Where a model is downloaded from, and how progress is reported. */
export interface ResolveModelOptions extends HubOptions {
  /** Branch, tag or commit on the hub; `main` by default. */
  readonly revision?: string;
  /** Called for each chunk that arrives. */
  readonly onProgress?: (progress: DownloadProgress) => void;
}

/** Returns the folder of a model. An existing folder is used directly; any other name is a hub id
 *  (`owner/name`), found in Hugging Face's cache or downloaded into it.
 *
 *  Asks the hub once for the current commit of the revision and downloads only missing files. If the
 *  hub cannot be reached or denies access, a complete cached copy is used, as in Python's client. */
export async function resolveModel(
  idOrPath: string,
  options: ResolveModelOptions = {},
): Promise<string> {
  if (await pathExists(idOrPath)) return checkFolder(idOrPath);
  const { revision = 'main', onProgress } = options;
  checkModelId(idOrPath);
  checkRevision(revision);
  const settings = await readHubSettings(options);
  const cache = new ModelCache(settings.cacheDir, idOrPath);
  const model: HubModel = { id: idOrPath, revision, settings, cache, onProgress };
  const cached = await cache.findSnapshot(revision);
  if (settings.offline) return expectCached(cached, model);
  try {
    return await downloadModel(model);
  } catch (error) {
    const canUseCache = error instanceof HubError && error.failure !== 'final';
    if (canUseCache && cached?.missing.length === 0) return cached.folder;
    throw error;
  }
}

async function checkFolder(path: string): Promise<string> {
  const isFolder = (await stat(path)).isDirectory();
  if (isFolder && (await pathExists(join(path, 'config.json')))) return path;
  const got = isFolder ? 'a folder without it' : 'a file';
  throw new Error(
    `Cannot load a model from ${path}: it must be a folder with config.json, got ${got}`,
  );
}

function expectCached(cached: Snapshot | undefined, { id, revision, settings }: HubModel): string {
  if (cached?.missing.length === 0) return cached.folder;
  const got = cached === undefined ? 'nothing' : `a copy without ${cached.missing.join(', ')}`;
  throw new Error(
    `Cannot find ${id} at revision "${revision}" offline: it must be in the cache ${settings.cacheDir}, got ${got}; download it once without HF_HUB_OFFLINE and offline: true`,
  );
}

/** A model on the hub and its cache. */
interface HubModel {
  readonly id: string;
  readonly revision: string;
  readonly settings: HubSettings;
  readonly cache: ModelCache;
  readonly onProgress: ((progress: DownloadProgress) => void) | undefined;
}

/** Downloads the missing files of the revision's current commit and returns the folder. */
async function downloadModel(model: HubModel): Promise<string> {
  const { id, revision, settings, cache } = model;
  const client = new HubClient(settings, { id, revision });
  const { commit, names } = await client.findCommit();
  const needed = expectModel(selectModelFiles(names), { id, names });
  const folder = cache.snapshotFolder(commit);
  const missing = await findMissingFiles(folder, needed);
  if (missing.length > 0) {
    await downloadFiles(await client.listFiles(commit, missing), { ...model, client, commit });
  }
  // Written last, so the revision refers to the old files until all new ones are complete.
  await cache.writeRef(revision, commit);
  return folder;
}

function expectModel(
  needed: string[],
  { id, names }: { id: string; names: readonly string[] },
): string[] {
  const got = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}` || 'no files';
  const missing = (what: string) =>
    new Error(`Cannot download ${id}: it must have ${what}, got ${got}`);
  if (!needed.includes('config.json')) throw missing('config.json');
  if (!needed.some((name) => name.endsWith('.safetensors'))) throw missing('*.safetensors weights');
  return needed;
}
