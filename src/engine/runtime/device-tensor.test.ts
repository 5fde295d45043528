import { expect, test } from 'vitest';
import { input, makeGraph, neg } from '../graph/index.ts';
import { compile } from './compile.ts';
import { countDeviceTensors, DeviceTensor, freeTensors, isOnHost } from './device-tensor.ts';
import { backendOf } from './devices.ts';
import { tensor } from './tensor.ts';
import { readTensor, uploadTensor } from './transfer.ts';

/** A tensor whose memory records that it was freed. */
function makeTensor() {
  const freed: string[] = [];
  const buffer = { dispose: () => void freed.push('freed') };
  const backend = backendOf('webgpu');
  return { freed, x: new DeviceTensor({ dtype: 'float32', shape: [2, 3], buffer, backend }) };
}

test('a tensor on a device rejects access to its numbers', () => {
  const { x } = makeTensor();
  expect(isOnHost(x)).toBe(false);
  expect(() => x.data).toThrow(
    'Internal: a tensor float32[2,3] is in the memory of webgpu; readTensor() copies it',
  );
  freeTensors(x);
});

test('a tensor on a device is rejected by sessions of other devices', async () => {
  const { x } = makeTensor();
  const compiled = await compile(makeGraph({ y: neg(input('x', ['M', 3])) }));
  await expect(compiled.run({ x })).rejects.toThrow(
    'Internal: a tensor float32[2,3] of webgpu was fed to cpu; readTensor() copies it',
  );
  await compiled.dispose();
  freeTensors(x);
});

test('freeTensors() frees memory once and counts it', () => {
  const before = countDeviceTensors();
  const { x, freed } = makeTensor();
  expect(countDeviceTensors()).toEqual({ tensors: before.tensors + 1, bytes: before.bytes + 24 });
  freeTensors(x, undefined, tensor(new Float32Array(1), [1]));
  freeTensors(x);
  expect(freed).toEqual(['freed']);
  expect(countDeviceTensors()).toEqual(before);
  expect(() => x.buffer).toThrow('Internal: a tensor float32[2,3] was used after it was freed');
});

test('tensors of the processor are neither uploaded nor read', async () => {
  const x = tensor(Float32Array.of(1, 2), [2]);
  expect(await uploadTensor(x, backendOf('cpu'))).toBe(x);
  expect(await readTensor(x)).toBe(x);
});
