import { type AsyncBuffer, parquetMetadata, type RowGroup } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { checkRowGroup } from './parquet-pages.ts';

/** A column of nulls, which takes a few bytes per million values. */
function makeColumn(count: number): { file: AsyncBuffer; group: RowGroup } {
  const data: null[] = Array.from({ length: count }, () => null);
  const file = parquetWriteBuffer({
    columnData: [{ name: 'a', data, type: 'INT32', nullable: true }],
    rowGroupSize: count,
  });
  return { file, group: parquetMetadata(file).row_groups[0]! };
}

/** A row group whose only column has other metadata. */
function change(group: RowGroup, fields: Record<string, unknown>): RowGroup {
  const [column] = group.columns;
  return { ...group, columns: [{ ...column!, meta_data: { ...column!.meta_data!, ...fields } }] };
}

test('checkRowGroup() accepts what a writer wrote', async () => {
  const { file, group } = makeColumn(1000);
  await expect(checkRowGroup(file, group)).resolves.toBeUndefined();
});

test.each([
  ['more rows than values', { num_rows: 1001n }, 'column a must have 1001 values, got 1000'],
  ['fewer than no rows', { num_rows: -1n }, 'a row group must have rows, got -1'],
  ['no columns', { columns: [] }, 'a row group must have columns, got none'],
])('checkRowGroup() rejects %s', async (_, fields, message) => {
  const { file, group } = makeColumn(1000);
  await expect(checkRowGroup(file, { ...group, ...fields })).rejects.toThrow(
    new RangeError(message),
  );
});

test('checkRowGroup() rejects columns outside of the file', async () => {
  const { file, group } = makeColumn(1000);
  for (const fields of [{ total_compressed_size: 2n ** 40n }, { data_page_offset: -1n }]) {
    await expect(checkRowGroup(file, change(group, fields))).rejects.toThrow(
      /^column a must be in the file, got bytes -?\d+ to \d+$/,
    );
  }
});

test('checkRowGroup() rejects small columns of too many values', async () => {
  const { file, group } = makeColumn(2 ** 20);
  expect(file.byteLength).toBeLessThan(2 ** 20);
  const columns = Array.from({ length: 129 }, () => group.columns[0]!);
  await expect(checkRowGroup(file, { ...group, columns })).rejects.toThrow(
    new RangeError(
      'a row group must have at most 134217728 values in 2147483648 bytes, got more; write smaller groups',
    ),
  );
});
