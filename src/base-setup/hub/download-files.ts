import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { statIfExists } from '../../fs/index.ts';
import type { HubClient, HubFile } from './hub-client.ts';
import { HubError } from './hub-error.ts';
import type { HubSettings } from './hub-settings.ts';
import type { RepoCache } from './repo-cache.ts';

/** Progress of a download. */
export interface DownloadProgress {
  readonly file: string;
  /** Bytes of this file received so far, including earlier attempts. */
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** The same for all files of this call. */
  readonly receivedBytesOfAll: number;
  readonly totalBytesOfAll: number;
}

interface FilesDownload {
  readonly client: HubClient;
  readonly id: string;
  readonly commit: string;
  readonly cache: RepoCache;
  readonly settings: HubSettings;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Downloads files of a commit into the cache, one after another. */
export async function downloadFiles(
  files: readonly HubFile[],
  { client, id, commit, cache, settings, onProgress }: FilesDownload,
): Promise<void> {
  const { timeout } = settings;
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
      await downloadBlob(file, { client, id, commit, path, timeout, onBytes });
    }
    await cache.linkBlob(hash, { commit, name });
    bytesBefore += size;
  }
}

interface BlobDownload {
  readonly client: HubClient;
  readonly id: string;
  readonly commit: string;
  /** Path of the finished blob; while incomplete, `.incomplete` is appended. */
  readonly path: string;
  readonly timeout: number;
  readonly onBytes: (receivedBytes: number) => void;
}

/** Attempts in a row that may receive no new byte. */
const maxFailures = 3;

/** Downloads a file into the cache, resuming an earlier attempt, and checks its hash.
 *  Two processes may do so at the same time: both write the same bytes at the same positions, and the
 *  faster one renames the file. */
async function downloadBlob(file: HubFile, download: BlobDownload): Promise<void> {
  const { path } = download;
  const incomplete = `${path}.incomplete`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await fetchMissing(file, { ...download, incomplete });
    await moveIntoPlace(file, { ...download, incomplete });
  } catch (error) {
    if ((await statIfExists(path))?.size !== file.size) throw error;
    await rm(incomplete, { force: true });
  }
}

async function moveIntoPlace(file: HubFile, { path, id, incomplete }: Transfer): Promise<void> {
  if ((await statIfExists(path))?.size === file.size) return rm(incomplete, { force: true });
  const hash = await hashFile(incomplete, file);
  if (hash === file.hash) return rename(incomplete, path);
  await rm(incomplete);
  throw new Error(
    `Cannot download ${file.name} of ${id}: its hash must be ${file.hash}, got ${hash}; the file was removed; run again to download it`,
  );
}

type Transfer = BlobDownload & { readonly incomplete: string };

async function fetchMissing(file: HubFile, transfer: Transfer): Promise<void> {
  const { incomplete, path, id } = transfer;
  let failures = 0;
  let size = await prepare(incomplete, file.size);
  while (size < file.size) {
    const error = await fetchOnce(file, { ...transfer, start: size });
    if ((await statIfExists(path))?.size === file.size) return;
    const sizeNow = await prepare(incomplete, file.size);
    failures = sizeNow > size ? 0 : failures + 1;
    size = sizeNow;
    if (failures < maxFailures) {
      await wait(failures * 500);
      continue;
    }
    if (size === 0 && error !== undefined) throw error;
    throw new Error(
      `Cannot download ${file.name} of ${id}: the connection broke after ${size} of ${file.size} bytes; run again to continue from there`,
      { cause: error },
    );
  }
}

/** Creates the file if needed, flushes it and returns its size. */
async function prepare(incomplete: string, expectedSize: number): Promise<number> {
  const handle = await open(incomplete, 'a');
  try {
    await handle.sync();
    const { size } = await handle.stat();
    if (size <= expectedSize) return size;
  } finally {
    await handle.close();
  }
  await truncate(incomplete, 0);
  return 0;
}

/** Appends what one connection delivers; returns the error if another attempt may succeed. */
async function fetchOnce(
  { name, size }: HubFile,
  { client, commit, incomplete, start, timeout, onBytes }: Transfer & { readonly start: number },
): Promise<Error | undefined> {
  const idle = watchIdleTime(timeout);
  try {
    const { signal } = idle;
    const response = await client.openFile(name, { commit, start, signal });
    let received = response.status === 206 ? start : 0;
    // 416 means that the file is shorter than the hub listed.
    if (response.status === 416 || response.body === null) return undefined;
    const meter = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        idle.reset();
        received += chunk.length;
        if (received > size) throw tooLong(name, size);
        onBytes(received);
        yield chunk;
      }
    };
    const target = createWriteStream(incomplete, { flags: 'r+', start: received });
    await pipeline(response.body, meter, target);
    return undefined;
  } catch (cause) {
    const error = client.explain(cause);
    if (isTemporary(error)) return error;
    throw error;
  } finally {
    idle.stop();
  }
}

/** Whether another attempt may succeed. */
function isTemporary(error: unknown): error is HubError {
  return error instanceof HubError && error.failure === 'unreachable';
}

function tooLong(name: string, size: number): Error {
  return new Error(
    `Cannot download ${name}: it must have ${size} bytes, got more; try again later`,
  );
}

/** A signal that aborts when no data arrives for a while. */
function watchIdleTime(timeout: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('No data arrived', 'TimeoutError'));
  const timer = setTimeout(abort, 1000 * timeout);
  return {
    signal: controller.signal,
    reset: () => timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}

/** SHA-256, or git's blob hash: SHA-1 of `blob <size>\0` and the bytes. */
async function hashFile(path: string, { hash: expected, size }: HubFile): Promise<string> {
  const isGit = expected.length === 40;
  const hash = createHash(isGit ? 'sha1' : 'sha256');
  if (isGit) hash.update(`blob ${size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
