import { downloadFiles } from '../base-setup/hub/download-files.ts';
import {
  type HubOptions,
  type HubSettings,
  readHubSettings,
} from '../base-setup/hub/hub-settings.ts';
import { type DownloadProgress, HubError } from '../base-setup/hub/index.ts';
import { pathExists } from '../fs/index.ts';
import type { DataFile } from './data-row.ts';
import { DatasetCache } from './dataset-cache.ts';
import { DatasetClient } from './dataset-client.ts';
import { chooseDataFiles, findMissingParts } from './dataset-files.ts';
import type { DatasetId } from './dataset-id.ts';

export interface ResolveDatasetOptions extends HubOptions {
  /** `train` by default. */
  readonly split?: string;
  /** Called for each piece that arrives. */
  readonly onProgress?: (progress: DownloadProgress) => void;
}

interface WantedSplit {
  readonly dataset: DatasetId & { readonly split: string };
  readonly settings: HubSettings;
  readonly cache: DatasetCache;
  readonly onProgress: ResolveDatasetOptions['onProgress'];
}

/** The files of a split, found in Hugging Face's cache or downloaded into it.
 *
 *  Asks the hub what the revision means now, and downloads only what is missing. When it cannot be
 *  asked or denies access, what is cached stands in, as for models. */
export async function resolveDataset(
  id: DatasetId,
  options: ResolveDatasetOptions = {},
): Promise<readonly DataFile[]> {
  const { split = 'train', onProgress } = options;
  const settings = await readHubSettings(options);
  const cache = new DatasetCache(settings.cacheDir, id.id);
  const wanted: WantedSplit = { dataset: { ...id, split }, settings, cache, onProgress };
  if (settings.offline) return findCached(wanted);
  try {
    return await download(wanted);
  } catch (error) {
    if (!(error instanceof HubError) || error.failure === 'final') throw error;
    if ((await cache.findCommit(id.revision)) === undefined) throw error;
    return findCached(wanted);
  }
}

async function download({ dataset, ...wanted }: WantedSplit): Promise<DataFile[]> {
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
  // Last, so that the revision means the files it meant before until all new ones are there.
  await cache.writeRef(dataset.revision, commit);
  return toDataFiles(names, { ...wanted, dataset, commit });
}

async function findCached(wanted: WantedSplit): Promise<DataFile[]> {
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
  { dataset, cache, commit }: WantedSplit & { readonly commit: string },
): DataFile[] {
  return names.map((name) => ({
    path: cache.filePath(commit, name),
    name: `${dataset.id}/${name}`,
  }));
}
