/** Bytes with random access: a file, or memory. */
export interface ByteSource {
  /** Path of the file, for errors and for ONNX Runtime. */
  readonly file: string;
  readonly size: number;
  /** Reads bytes at `position` into `view`; returns how many were read. */
  read(view: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** A file that is already in memory.
 *  @param file what errors call it */
export function bytesInMemory(bytes: Uint8Array, file: string): ByteSource {
  return {
    file,
    size: bytes.byteLength,
    read: async (view, position) => {
      const piece = bytes.subarray(position, position + view.byteLength);
      view.set(piece);
      return piece.byteLength;
    },
    close: async () => {},
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
