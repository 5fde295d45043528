import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** 1 GiB: a single system call writes at most 2 GiB. */
const maxBytesPerWrite = 2 ** 30;

export interface FileOptions {
  /** Permissions such as 0o600; those that the process gives new files by default. */
  readonly mode?: number | undefined;
}

/** A file that appears complete or not at all: it is written to a temporary file in the same folder
 *  and then renamed. */
export class AtomicFile {
  private readonly path: string;
  private readonly temporaryPath: string;
  private readonly handle: FileHandle;

  static async create(path: string, { mode }: FileOptions = {}): Promise<AtomicFile> {
    const temporaryPath = `${path}.${randomUUID()}.tmp`;
    return new AtomicFile(path, { temporaryPath, handle: await open(temporaryPath, 'wx', mode) });
  }

  private constructor(
    path: string,
    { temporaryPath, handle }: { temporaryPath: string; handle: FileHandle },
  ) {
    this.path = path;
    this.temporaryPath = temporaryPath;
    this.handle = handle;
  }

  /** Writes all bytes of `view` at `position`. */
  async write(view: ArrayBufferView, position: number): Promise<void> {
    const { buffer, byteOffset, byteLength } = view;
    for (let done = 0; done < byteLength; ) {
      const length = Math.min(maxBytesPerWrite, byteLength - done);
      const chunk = new Uint8Array(buffer, byteOffset + done, length);
      done += (await this.handle.write(chunk, 0, length, position + done)).bytesWritten;
    }
  }

  /** Flushes the bytes to disk and closes the file; call only `commit` or `discard` after this. */
  async finish(): Promise<void> {
    await this.handle.sync();
    await this.handle.close();
  }

  /** Renames the finished file to its final path. */
  async commit(): Promise<void> {
    await rename(this.temporaryPath, this.path);
    await syncFolder(dirname(this.path));
  }

  /** Removes the temporary file; does nothing after `commit`. */
  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.temporaryPath, { force: true });
  }
}

/** Writes a file that appears only once it is complete. */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  options: FileOptions = {},
): Promise<void> {
  const file = await AtomicFile.create(path, options);
  try {
    await file.write(Buffer.from(content), 0);
    await file.finish();
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Does the same synchronously, for event listeners, which cannot wait. One process at a time may write
 *  the file. */
export function writeAtomicallySync(path: string, content: string): void {
  const temporaryPath = `${path}.tmp`;
  const descriptor = openSync(temporaryPath, 'w');
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporaryPath, path);
  syncFolderSync(dirname(path));
}

/** Writes a folder that appears only once it is complete. There must be nothing at its path. */
export async function writeFolderAtomically(
  path: string,
  write: (folder: string) => Promise<void>,
): Promise<void> {
  const temporaryPath = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(temporaryPath);
    await write(temporaryPath);
    await syncTree(temporaryPath);
    await rename(temporaryPath, path);
    await syncFolder(dirname(path));
  } finally {
    await rm(temporaryPath, { recursive: true, force: true });
  }
}

/** Creates a folder and those above it, and flushes the new entries to disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  const highest = dirname(resolve(first));
  for (let parent = dirname(resolve(path)); ; parent = dirname(parent)) {
    await syncFolder(parent);
    if (parent.length <= highest.length) return;
  }
}

/** Flushes a folder and everything in it to disk: files first, then the directory entries. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    // Windows only flushes files that are open for writing.
    else await syncPath(path, process.platform === 'win32' ? 'r+' : 'r');
  }
  await syncFolder(folder);
}

/** Flushes a folder's entries to disk, such as after a rename. Windows neither offers nor needs it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncPath(folder, 'r');
}

/** Does the same synchronously. */
export function syncFolderSync(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

async function syncPath(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
