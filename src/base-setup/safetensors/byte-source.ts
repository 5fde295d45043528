import { open, stat } from 'node:fs/promises';

/** Bytes with random access: a file, or memory in tests. */
export interface ByteSource {
  /** Path of the file, for errors and for ONNX Runtime. */
  readonly file: string;
  readonly size: number;
  /** Reads bytes at `position` into `view`; returns how many were read. */
  read(view: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a file; rejects folders, pipes and devices, which could block. */
export async function openByteSource(file: string): Promise<ByteSource> {
  if (!(await stat(file)).isFile()) {
    throw new TypeError(`Cannot read ${file}: it must be a regular file`);
  }
  const handle = await open(file, 'r');
  return {
    file,
    size: (await handle.stat()).size,
    read: async (view, position) =>
      (await handle.read(view, 0, view.byteLength, position)).bytesRead,
    close: () => handle.close(),
  };
}

export interface ReadFullyOptions {
  readonly position: number;
  /** 1 GiB by default: one system call reads at most 2 GiB. */
  readonly pieceBytes?: number;
}

/** Fills `view` completely, in as many reads as needed. */
export async function readFully(
  source: ByteSource,
  view: ArrayBufferView,
  { position, pieceBytes = 2 ** 30 }: ReadFullyOptions,
): Promise<void> {
  const { buffer, byteOffset, byteLength } = view;
  for (let done = 0; done < byteLength; ) {
    const length = Math.min(pieceBytes, byteLength - done);
    const piece = new Uint8Array(buffer, byteOffset + done, length);
    const count = await source.read(piece, position + done);
    if (count === 0) {
      throw new RangeError(
        `Cannot read ${source.file}: ${byteLength} bytes must follow byte ${position}, got ${done}; the file was truncated while it was open`,
      );
    }
    done += count;
  }
}
