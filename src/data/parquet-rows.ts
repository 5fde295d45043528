import type { DataFile, DataRow } from './data-row.ts';

/** Rows of a Parquet file, one row group in memory at a time. */
export async function* readParquet({ path, name }: DataFile): AsyncGenerator<DataRow> {
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects }, { compressors }] =
    await Promise.all([import('hyparquet'), import('hyparquet-compressors')]);
  const explain = (cause: unknown) => {
    const { message } = cause as Error;
    return new Error(`Cannot read ${name}: it must be a whole Parquet file (${message})`, {
      cause,
    });
  };
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file).catch((cause) => {
    throw explain(cause);
  });
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    const options = { file, metadata, compressors, rowStart, rowEnd };
    const rows = await parquetReadObjects(options).catch((cause) => {
      throw explain(cause);
    });
    for (const [i, row] of rows.entries()) {
      const columns = toPlain(row) as Record<string, unknown>;
      yield { columns, origin: `${name} row ${rowStart + i + 1}` };
    }
    rowStart = rowEnd;
  }
}

/** 64-bit integers as numbers, or as text where a number is not exact, so that rows are JSON. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (Array.isArray(value)) return value.map(toPlain);
  if (value === null || typeof value !== 'object') return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toPlain(entry)]));
}
