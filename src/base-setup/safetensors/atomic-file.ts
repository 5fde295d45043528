import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** 1 GiB: one call of the system ends at 2 GiB. */
const pieceBytes = 2 ** 30;

/** A file that appears whole or not at all: it is written beside its place and then renamed. */
export class AtomicFile {
  private readonly path: string;
  private readonly temporary: string;
  private readonly handle: FileHandle;

  static async create(path: string): Promise<AtomicFile> {
    const temporary = `${path}.${randomUUID()}.tmp`;
    return new AtomicFile(path, { temporary, handle: await open(temporary, 'wx') });
  }

  private constructor(path: string, of: { temporary: string; handle: FileHandle }) {
    this.path = path;
    this.temporary = of.temporary;
    this.handle = of.handle;
  }

  /** Writes all bytes of `view` at `position`. */
  async write(view: ArrayBufferView, position: number): Promise<void> {
    const { buffer, byteOffset, byteLength } = view;
    for (let done = 0; done < byteLength; ) {
      const length = Math.min(pieceBytes, byteLength - done);
      const piece = new Uint8Array(buffer, byteOffset + done, length);
      done += (await this.handle.write(piece, 0, length, position + done)).bytesWritten;
    }
  }

  /** Brings the bytes to the disk; after this only `commit` and `discard` make sense. */
  async finish(): Promise<void> {
    await this.handle.sync();
    await this.handle.close();
  }

  /** Puts the finished file in its place. */
  async commit(): Promise<void> {
    await rename(this.temporary, this.path);
    await syncFolder(dirname(this.path));
  }

  /** Removes what was written, unless it is already in its place. */
  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.temporary, { force: true });
  }
}

/** Writes a file that appears when it is complete. */
export async function writeAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const file = await AtomicFile.create(path);
  try {
    await file.write(Buffer.from(content), 0);
    await file.finish();
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Brings a rename to the disk; Windows has no such call and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
