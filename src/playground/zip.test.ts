import { crc32 as nodeCrc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { readZip } from '../../test/helpers/read-zip.ts';
import { crc32, zipFiles } from './zip.ts';

const files = {
  'adapter_config.json': new TextEncoder().encode('{"r": 8}\n'),
  'adapter_model.safetensors': Uint8Array.from({ length: 1000 }, (_, i) => i * 7),
};

test('zipFiles() writes what a reader finds', () => {
  expect(readZip(zipFiles(files))).toEqual(new Map(Object.entries(files)));
});

test('crc32() matches the worked example and Node', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  const bytes = files['adapter_model.safetensors'];
  expect(crc32(bytes)).toBe(nodeCrc32(bytes));
});
