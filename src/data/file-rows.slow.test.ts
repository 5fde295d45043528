import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzzParquet } from '../../test/helpers/parquet-fuzz.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readFileRows } from './file-rows.ts';

test('readFileRows() returns rows or one error for 2,500 damaged Parquet files', async () => {
  const { read, errors, unhandled } = await fuzzParquet(2500);
  expect(unhandled).toBe(0);
  expect(read + errors.length).toBe(2500);
  expect(read).toBeGreaterThan(250);
  for (const error of errors) expect(error).toMatch(/^Cannot read p: .+$/);
});

test('a CSV file of more than 512 MiB is rejected', async () => {
  const path = join(makeTempFolder(), 'p.csv');
  writeFileSync(path, 'a,b\n');
  truncateSync(path, 513 * 2 ** 20);
  await expect(readFileRows({ path, name: 'p.csv' }).next()).rejects.toThrow(
    new RangeError(
      'Cannot read p.csv: a text that is read as a whole must have at most 512 MiB, got more; convert it to .jsonl, which is read line by line',
    ),
  );
});
