import { join } from 'node:path';
import { pathExists } from '../../fs/index.ts';
import { type DownloadProgress, downloadFiles } from './download-files.ts';
import { HubClient } from './hub-client.ts';
import type { HubSettings } from './hub-settings.ts';
import type { ModelCache } from './model-cache.ts';
import { selectModelFiles } from './model-files.ts';

/** A model on the hub and its place in the cache. */
export interface HubModel {
  readonly id: string;
  readonly revision: string;
  readonly settings: HubSettings;
  readonly cache: ModelCache;
  readonly onProgress: ((progress: DownloadProgress) => void) | undefined;
}

/** Asks what the revision means now, downloads what the cache lacks of it, and returns the folder. */
export async function downloadModel(model: HubModel): Promise<string> {
  const { id, revision, settings, cache } = model;
  const client = new HubClient(settings, { id, revision });
  const { commit, names } = await client.findCommit();
  const wanted = expectModel(selectModelFiles(names), { id, names });
  const folder = cache.snapshotFolder(commit);
  const there = await Promise.all(wanted.map((name) => pathExists(join(folder, name))));
  const missing = wanted.filter((_, i) => !there[i]);
  if (missing.length > 0) {
    await downloadFiles(await client.listFiles(commit, missing), { ...model, client, commit });
  }
  // Last, so that the revision means the files it meant before until all new ones are there.
  await cache.writeRef(revision, commit);
  return folder;
}

function expectModel(
  wanted: string[],
  { id, names }: { id: string; names: readonly string[] },
): string[] {
  const got = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}` || 'no files';
  const lacks = (what: string) =>
    new Error(`Cannot download ${id}: it must have ${what}, got ${got}`);
  if (!wanted.includes('config.json')) throw lacks('config.json');
  if (!wanted.some((name) => name.endsWith('.safetensors'))) throw lacks('*.safetensors weights');
  return wanted;
}
