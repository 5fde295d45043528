import { statIfExists } from '../../fs/index.ts';
import { downloadBlob } from './download-blob.ts';
import type { HubClient, HubFile } from './hub-client.ts';
import type { HubSettings } from './hub-settings.ts';
import type { RepoCache } from './repo-cache.ts';

/** How far a download has come. */
export interface DownloadProgress {
  readonly file: string;
  /** Bytes of this file that are here, those of earlier tries included. */
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** The same for all files together that this call downloads. */
  readonly receivedBytesOfAll: number;
  readonly totalBytesOfAll: number;
}

export interface FilesDownload {
  readonly client: HubClient;
  readonly id: string;
  readonly commit: string;
  readonly cache: RepoCache;
  readonly settings: HubSettings;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Downloads files of a commit into the cache, one after the other. */
export async function downloadFiles(
  files: readonly HubFile[],
  { client, id, commit, cache, settings, onProgress }: FilesDownload,
): Promise<void> {
  const { timeoutMs } = settings;
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
    if ((await statIfExists(path))?.size !== size) {
      await downloadBlob(file, { client, id, commit, path, timeoutMs, onBytes });
    }
    await cache.linkBlob(hash, { commit, name });
    bytesBefore += size;
  }
}
