import { join } from 'node:path';
import { downloadBlob } from './download-blob.ts';
import { HubClient } from './hub-client.ts';
import type { HubSettings } from './hub-settings.ts';
import { isThere, type ModelCache, sizeIfThere } from './model-cache.ts';
import { selectModelFiles } from './model-files.ts';

/** How far the download of a model has come. */
export interface DownloadProgress {
  readonly file: string;
  /** Bytes of this file that are here, those of earlier tries included. */
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** The same for all files together that this call downloads. */
  readonly receivedBytesOfAll: number;
  readonly totalBytesOfAll: number;
}

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
  const there = await Promise.all(wanted.map((name) => isThere(join(folder, name))));
  const missing = wanted.filter((_, i) => !there[i]);
  if (missing.length > 0) await downloadFiles(missing, { ...model, client, commit });
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

async function downloadFiles(
  names: readonly string[],
  model: HubModel & { readonly client: HubClient; readonly commit: string },
): Promise<void> {
  const { id, settings, cache, client, commit, onProgress } = model;
  const { timeoutMs } = settings;
  const files = await client.listFiles(commit, names);
  const totalBytesOfAll = files.reduce((sum, { size }) => sum + size, 0);
  let bytesBefore = 0;
  for (const file of files) {
    const { name, size, hash } = file;
    const path = cache.blobPath(hash);
    const onBytes = (receivedBytes: number) =>
      onProgress?.({
        file: name,
        receivedBytes,
        totalBytes: size,
        receivedBytesOfAll: bytesBefore + receivedBytes,
        totalBytesOfAll,
      });
    if ((await sizeIfThere(path)) !== size) {
      await downloadBlob(file, { client, id, commit, path, timeoutMs, onBytes });
    }
    await cache.linkBlob(hash, { commit, name });
    bytesBefore += size;
  }
}
