import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { statIfExists } from '../../fs/index.ts';
import type { HubClient, HubFile } from './hub-client.ts';
import { HubError } from './hub-error.ts';

export interface BlobDownload {
  readonly client: HubClient;
  readonly id: string;
  readonly commit: string;
  /** Where the finished blob goes; until then it is this with `.incomplete` at the end. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly onBytes: (receivedBytes: number) => void;
}

/** Tries in a row that may bring no new byte. */
const maxFailures = 3;

/** Downloads a file to where the cache keeps it, from where the last try stopped, and checks its hash.
 *  Two processes may do so at once: both write the same bytes at the same places, and the quicker
 *  one takes the file from under the other. */
export async function downloadBlob(file: HubFile, download: BlobDownload): Promise<void> {
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
    `Cannot download ${file.name} of ${id}: its hash must be ${file.hash}, got ${hash}; the file was removed, run again to download it afresh`,
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

/** Creates the file if need be and says how much of it is there; flushed, as the name will vouch for it. */
async function prepare(incomplete: string, wanted: number): Promise<number> {
  const handle = await open(incomplete, 'a');
  try {
    await handle.sync();
    const { size } = await handle.stat();
    if (size <= wanted) return size;
  } finally {
    await handle.close();
  }
  await truncate(incomplete, 0);
  return 0;
}

/** Appends what one connection gives; returns why it ended early if another one may do better. */
async function fetchOnce(
  { name, size }: HubFile,
  { client, commit, incomplete, start, timeoutMs, onBytes }: Transfer & { readonly start: number },
): Promise<Error | undefined> {
  const silence = watchSilence(timeoutMs);
  try {
    const { signal } = silence;
    const response = await client.openFile(name, { commit, start, signal });
    let received = response.status === 206 ? start : 0;
    // 416 means that the hub's file is shorter than its listing says.
    if (response.status === 416 || response.body === null) return undefined;
    const meter = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        silence.heard();
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
    if (isPassing(error)) return error;
    throw error;
  } finally {
    silence.stop();
  }
}

/** Whether a second try may go better. */
function isPassing(error: unknown): error is HubError {
  return error instanceof HubError && error.failure === 'unreachable';
}

function tooLong(name: string, size: number): Error {
  return new Error(
    `Cannot download ${name}: it must have ${size} bytes, got more; try again later`,
  );
}

/** A signal that aborts when nothing was heard for a while. */
function watchSilence(timeoutMs: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('Nothing was heard', 'TimeoutError'));
  const timer = setTimeout(abort, timeoutMs);
  return {
    signal: controller.signal,
    heard: () => timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}

/** SHA-256, or what git calls a blob: SHA-1 of `blob <size>\0` and the bytes. */
async function hashFile(path: string, { hash: wanted, size }: HubFile): Promise<string> {
  const isGit = wanted.length === 40;
  const hash = createHash(isGit ? 'sha1' : 'sha256');
  if (isGit) hash.update(`blob ${size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
