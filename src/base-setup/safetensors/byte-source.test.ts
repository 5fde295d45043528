import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { MemorySource } from '../../../test/fixtures/safetensors/make-file.ts';
import { readFully } from './byte-source.ts';
import { openByteSource } from './open-weights.ts';

const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);

test('readFully() joins chunks and short reads', async () => {
  const source = new MemorySource(bytes);
  const read = source.read.bind(source);
  source.read = (view, position) => read(view.subarray(0, 3), position);
  const target = new Uint8Array(60).fill(255);
  await readFully(source, target.subarray(5, 55), { position: 20, pieceBytes: 7 });
  expect([...target.subarray(0, 5)]).toEqual([255, 255, 255, 255, 255]);
  expect([...target.subarray(5, 55)]).toEqual([...bytes.subarray(20, 70)]);
  expect([...target.subarray(55)]).toEqual([255, 255, 255, 255, 255]);
});

test('readFully() reads at most one chunk at a time', async () => {
  const source = new MemorySource(bytes);
  await readFully(source, new Float32Array(20), { position: 0, pieceBytes: 32 });
  expect(source.largestView).toBe(32);
});

test('readFully() reports where a file ended too early', async () => {
  await expect(
    readFully(new MemorySource(bytes), new Uint8Array(50), { position: 60 }),
  ).rejects.toThrow(
    new RangeError(
      'Cannot read m.safetensors: 50 bytes must follow byte 60, got 40; the file was truncated while it was open',
    ),
  );
});

test('openByteSource() rejects a folder', async () => {
  await expect(openByteSource(tmpdir())).rejects.toThrow(
    new TypeError(`Cannot read ${tmpdir()}: it must be a regular file`),
  );
});
