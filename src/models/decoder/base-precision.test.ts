import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { byteLimit } from '../../engine/runtime/index.ts';
import { chooseBasePrecision, describeSlowBytes, measureByteSpeed } from './base-precision.ts';

test('auto is int8 if products with bytes are at least a tenth faster, and says why', async () => {
  const choose = (ratio: number) =>
    chooseBasePrecision({ cacheFolder: makeTempFolder(), measure: async () => ratio });
  expect((await choose(1.83)).precision).toBe('int8');
  expect((await choose(1.83)).message).toMatch(
    /^Base precision int8: exact products with 8-bit weights run at 1\.83 × the speed of float32 here \(measured now, cached in .*byte-speed\.json\)$/,
  );
  expect((await choose(1.05)).precision).toBe('f32');
});

test('says how an 8-bit base is held only where float32 is faster than bytes', async () => {
  const describe = (rows: 'float32' | 'two-byte') => describeSlowBytes(Promise.resolve({ rows }));
  expect(await describe('two-byte')).toBeUndefined();
  expect(await describe('float32')).toBe(
    'Base precision int8: this processor has no dot products of bytes, so 8-bit weights are held as float32 numbers if these fit into a third of the memory; f32 is as fast and more exact',
  );
  expect((await describeSlowBytes()) === undefined).toBe((await byteLimit()) === 127);
});

test('auto is measured once per machine, and again if the cache is damaged', async () => {
  const cacheFolder = makeTempFolder();
  let count = 0;
  const measure = async () => ++count + 0.5;
  const choose = () => chooseBasePrecision({ cacheFolder, measure });
  await choose();
  expect((await choose()).message).toContain('1.50 × the speed of float32 here (measured earlier');
  expect(count).toBe(1);
  const file = join(cacheFolder, 'byte-speed.json');
  expect(Object.values(JSON.parse(readFileSync(file, 'utf8')))).toEqual([1.5]);
  writeFileSync(file, '{"');
  expect((await choose()).message).toContain('measured now');
  expect(count).toBe(2);
});

test('measureByteSpeed() compares real products', async () => {
  const ratio = await measureByteSpeed();
  // Far outside what any processor has been seen to do: 0.8 to 4.
  expect(ratio).toBeGreaterThan(0.1);
  expect(ratio).toBeLessThan((await byteLimit()) === 127 ? 20 : 5);
});
