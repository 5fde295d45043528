import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from '../../fs/index.ts';
import type { DownloadProgress } from './download-files.ts';
import { downloadModel, type HubModel } from './download-model.ts';
import { HubError } from './hub-error.ts';
import { type HubOptions, readHubSettings } from './hub-settings.ts';
import { ModelCache, type Snapshot } from './model-cache.ts';
import { checkModelId, checkRevision } from './model-id.ts';

export interface ResolveModelOptions extends HubOptions {
  /** Branch, tag or commit on the hub; `main` by default. */
  readonly revision?: string;
  /** Called for each piece that arrives. */
  readonly onProgress?: (progress: DownloadProgress) => void;
}

/** The folder of a model: a folder that exists is taken as it is, else the name is a hub id
 *  (`owner/name`), found in Hugging Face's cache or downloaded into it.
 *
 *  Asks the hub once, for what the revision means now, and downloads only what is missing. When it
 *  cannot be asked or denies access, a complete cached copy stands in, as in Python's client. */
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
    const mayUseCache = error instanceof HubError && error.failure !== 'final';
    if (mayUseCache && cached?.missing.length === 0) return cached.folder;
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
