import type { AsyncBuffer, ColumnMetaData, RowGroup } from 'hyparquet';

/** Most bytes and values of a row group. Writers stay far below: they use groups of 100 MB and pages of
 *  1 MB. A page header can claim anything, and run-length encoding fills memory from a few bytes. */
const maxBytes = 2 ** 31;
const maxValues = 2 ** 27;

/** What the headers of some pages claim. */
interface PageTotals {
  /** Bytes after decompression. */
  readonly bytes: number;
  /** Values of data pages. */
  readonly values: number;
  /** Values of dictionaries. */
  readonly entries: number;
}

/** Checks what a row group claims before anything is allocated for it: its pages must be in the file and
 *  of a reasonable size, and every column needs a value per row. */
export async function checkRowGroup(file: AsyncBuffer, group: RowGroup): Promise<void> {
  const rows = Number(group.num_rows);
  if (!(rows >= 0)) throw new RangeError(`a row group must have rows, got ${rows}`);
  if (group.columns.length === 0) throw new RangeError('a row group must have columns, got none');
  let [bytes, values] = [0, 0];
  for (const { meta_data: column } of group.columns) {
    if (column === undefined) throw new TypeError('a column must have metadata, got none');
    const totals = await readTotals(file, column);
    const name = column.path_in_schema.join('.');
    if (totals.values < rows) {
      throw new RangeError(`column ${name} must have ${rows} values, got ${totals.values}`);
    }
    bytes += totals.bytes;
    values += totals.values + totals.entries;
    if (bytes > maxBytes || values > maxValues) {
      throw new RangeError(
        `a row group must have at most ${maxValues} values in ${maxBytes} bytes, got more; write smaller groups`,
      );
    }
  }
}

/** Adds up the page headers of a column. */
async function readTotals(file: AsyncBuffer, column: ColumnMetaData): Promise<PageTotals> {
  const { parquetHeader } = await import('hyparquet/src/column.js');
  const name = column.path_in_schema.join('.');
  const from = Number(column.dictionary_page_offset || column.data_page_offset);
  const to = from + Number(column.total_compressed_size);
  if (!(from >= 0 && from <= to && to <= file.byteLength)) {
    throw new RangeError(`column ${name} must be in the file, got bytes ${from} to ${to}`);
  }
  const reader = { view: new DataView(await file.slice(from, to)), offset: 0 };
  const totals = { bytes: 0, values: 0, entries: 0 };
  // The library also ignores a single last byte.
  while (reader.offset < reader.view.byteLength - 1) {
    const header = parquetHeader(reader);
    const { compressed_page_size: size, uncompressed_page_size: plainSize } = header;
    const values = (header.data_page_header ?? header.data_page_header_v2)?.num_values ?? 0;
    const entries = header.dictionary_page_header?.num_values ?? 0;
    reader.offset += size;
    const isInside = size >= 0 && reader.offset <= reader.view.byteLength;
    if (!isInside || !(plainSize >= 0) || !(values >= 0) || !(entries >= 0)) {
      throw new RangeError(`the pages of column ${name} must be in it, got other sizes`);
    }
    totals.bytes += plainSize;
    totals.values += values;
    totals.entries += entries;
  }
  return totals;
}
