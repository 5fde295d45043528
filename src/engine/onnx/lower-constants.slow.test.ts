import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listOf, runValues } from '../../../test/helpers/runtime-run.ts';
import { encodeHeader } from '../../../test/helpers/runtime-safetensors.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { add, concat, constant, gatherRows, input, matmul } from '../graph/index.ts';
import { tensor } from '../runtime/index.ts';

const rowIndex = input('rows', ['N'], 'int32');
const rows = (...indices: number[]) => tensor(Int32Array.from(indices), [indices.length]);

/** A safetensors file of 4.8 GB, nearly all of it sparse: two embeddings, then a head of two rows. */
function writeSparseModel(file: string) {
  const columns = 2048;
  const count = 293_000;
  const size = count * columns * 4;
  const header = encodeHeader({
    first: { dtype: 'F32', shape: [count, columns], data_offsets: [0, size] },
    second: { dtype: 'F32', shape: [count, columns], data_offsets: [size, 2 * size] },
    head: { dtype: 'F32', shape: [2, 2], data_offsets: [2 * size, 2 * size + 16] },
  });
  const start = header.byteLength;
  const descriptor = openSync(file, 'w');
  const write = (values: number[], at: number) =>
    writeSync(descriptor, new Uint8Array(Float32Array.from(values).buffer), 0, undefined, at);
  writeSync(descriptor, header);
  ftruncateSync(descriptor, start + 2 * size + 16);
  write([1, 2], start + size - columns * 4);
  write([3, 4], start + 2 * size - columns * 4);
  write([10, 0, 0, 100], start + 2 * size);
  closeSync(descriptor);
  const embedding = (offset: number) =>
    constant({ file, offset, length: size }, { shape: [count, columns] });
  return {
    first: embedding(start),
    second: embedding(start + size),
    head: constant({ file, offset: start + 2 * size, length: 16 }, { shape: [2, 2] }),
    lastRow: count - 1,
    columns,
  };
}

describe('models over 2 GB', () => {
  test('tensors of 2.4 GB in a file of 4.8 GB are read to their last row', async () => {
    const model = writeSparseModel(join(makeTempFolder(), 'model.safetensors'));
    const outputs = await runValues(
      {
        first: gatherRows(model.first, rowIndex),
        second: gatherRows(model.second, rowIndex),
        product: matmul(input('x', ['M', 2]), model.head, { transB: true }),
      },
      { rows: rows(model.lastRow, 0), x: tensor(Float32Array.of(1, 2), [1, 2]) },
    );
    const row = (values: number[]) => [...values, ...new Array(model.columns - 2).fill(0)];
    expect(listOf(outputs, 'first')).toEqual([...row([1, 2]), ...row([0, 0])]);
    expect(listOf(outputs, 'second')).toEqual([...row([3, 4]), ...row([0, 0])]);
    expect(listOf(outputs, 'product')).toEqual([10, 200]);
  }, 60_000);

  test('constants in memory of 2.4 GB in total are read to their last row', async () => {
    const count = 200_000;
    const tables = [1, 2, 3].map((number) => {
      const data = new Float32Array(count * 1000);
      data.set([number, 10 * number], (count - 1) * 1000);
      return constant(data, { shape: [count, 1000] });
    });
    const picked = tables.map((table) => gatherRows(table, rowIndex));
    const outputs = await runValues(
      { sum: picked.reduce((a, b) => add(a, b)), all: concat(picked, 0) },
      { rows: rows(count - 1) },
    );
    expect(listOf(outputs, 'sum').slice(0, 3)).toEqual([6, 60, 0]);
    expect(listOf(outputs, 'all').filter((value) => value !== 0)).toEqual([1, 10, 2, 20, 3, 30]);
  }, 60_000);
});
