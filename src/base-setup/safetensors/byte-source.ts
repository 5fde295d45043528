import { open, stat } from 'node:fs/promises';

/** Bytes at rest that can be read from any place; a file, except in tests. */
export interface ByteSource {
  /** Where the bytes lie, for errors and for ONNX Runtime. */
  readonly file: string;
  readonly size: number;
  /** Fills the start of `view` with what lies at `position`; gives how many bytes that were. */
  read(view: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a file; a folder, a pipe or a device is refused before it could block. */
export async function openByteSource(file: string): Promise<ByteSource> {
  if (!(await stat(file)).isFile()) {
    throw new TypeError(`Cannot read ${file}: it must be a file, got something else`);
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
  /** 1 GiB by default: one call of the system ends at 2 GiB. */
  readonly pieceBytes?: number;
}

/** Fills `view` to its end, in as many reads as that takes. */
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
        `Cannot read ${source.file}: ${byteLength} bytes must follow byte ${position}, got ${done}; the file was cut while it was open`,
      );
    }
    done += count;
  }
}
