import type { AsyncBuffer, Compressors } from 'hyparquet';
import type { DataFile, DataRow } from './data-row.ts';
import { checkRowGroup } from './parquet-pages.ts';

/** Reads a Parquet file with one row group in memory at a time. A damaged file can make the library
 *  loop forever or reject a promise that nobody awaits, so this runs in the sandbox only. */
export async function* readParquet({ path, name }: DataFile): AsyncGenerator<DataRow> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import(
    'hyparquet'
  );
  const compressors = await loadCompressors();
  const file = new TrackedFile(await asyncBufferFromFile(path));
  try {
    const metadata = await parquetMetadataAsync(file);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      await checkRowGroup(file, group);
      const rowEnd = rowStart + Number(group.num_rows);
      const options = { file, metadata, compressors, rowStart, rowEnd };
      const rows = await parquetReadObjects(options);
      for (const [i, row] of rows.entries()) {
        const columns = toPlain(row) as Record<string, unknown>;
        yield { columns, origin: `${name} row ${rowStart + i + 1}` };
      }
      rowStart = rowEnd;
    }
  } catch (cause) {
    const reason = toOneLine((cause as Error).message);
    throw new Error(`Cannot read ${name}: it must be a complete Parquet file (${reason})`, {
      cause,
    });
  } finally {
    await file.settle();
  }
}

/** The start of a message that may quote bytes of the file, without control characters. */
function toOneLine(message: string): string {
  return message.slice(0, 200).replace(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
}

/** The decompressors. All but the library's for Zstandard write at most as many bytes as the page
 *  says; this one is given a buffer of that size. */
async function loadCompressors(): Promise<Compressors> {
  const { compressors, decompressZstd } = await import('hyparquet-compressors');
  return { ...compressors, ZSTD: (page, size) => decompressZstd(page, new Uint8Array(size)) };
}

/** A file that knows its reads. The library stops at the first column that fails, while it still
 *  decodes others. */
class TrackedFile implements AsyncBuffer {
  readonly byteLength: number;
  private readonly file: AsyncBuffer;
  /** Ends of reads, without their bytes. */
  private readonly reads: Promise<void>[] = [];

  constructor(file: AsyncBuffer) {
    this.file = file;
    this.byteLength = file.byteLength;
  }

  async slice(start: number, end?: number): Promise<ArrayBuffer> {
    const read = Promise.resolve(this.file.slice(start, end));
    const forget = () => {};
    this.reads.push(read.then(forget, forget));
    return read;
  }

  /** Waits until all reads have ended and what follows them is done. */
  async settle(): Promise<void> {
    await Promise.all(this.reads);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Converts 64-bit integers to numbers, or to text if a number is not exact, so that rows are JSON.
 *  Bytes are copied out of their page. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Uint8Array) return value.slice();
  if (value === null || typeof value !== 'object') return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toPlain(entry)]));
}
