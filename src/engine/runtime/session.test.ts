import { afterEach, describe, expect, test } from 'vitest';
import { listOf } from '../../../test/helpers/runtime-run.ts';
import { add, constant, gatherRows, input, makeGraph, neg } from '../graph/index.ts';
import type { Device } from './backend.ts';
import { type CompiledGraph, type CompileOptions, compile } from './compile.ts';
import { countSessions } from './session.ts';
import { tensor } from './tensor.ts';

const open: CompiledGraph[] = [];

/** Compiles a graph that is disposed after the test. */
async function compileHere(...parameters: Parameters<typeof compile>): Promise<CompiledGraph> {
  const compiled = await compile(...parameters);
  open.push(compiled);
  return compiled;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((compiled) => compiled.dispose()));
  expect(countSessions()).toBe(0);
});

const negation = () => makeGraph({ y: neg(input('x', ['M'])) });
const feeds = { x: tensor(Float32Array.of(1, 2), [2]) };

/** Row 1 of a table of 1000 numbers. */
const lookup = (table: Float32Array) =>
  makeGraph({
    y: gatherRows(constant(table, { shape: [500, 2] }), input('rows', ['N'], 'int32')),
  });
const rowOne = { rows: tensor(Int32Array.of(1), [1]) };

describe('sessions', () => {
  test('are shared by graphs of equal structure', async () => {
    await compileHere(negation());
    await compileHere(negation());
    expect(countSessions()).toBe(1);
  });

  test('are shared by graphs that are compiled concurrently', async () => {
    await Promise.all([compileHere(negation()), compileHere(negation())]);
    expect(countSessions()).toBe(1);
  });

  test('live until the last graph is disposed', async () => {
    const first = await compileHere(negation());
    const second = await compileHere(negation());
    await first.dispose();
    await first.dispose();
    expect(countSessions()).toBe(1);
    expect(listOf(await second.run(feeds), 'y')).toEqual([-1, -2]);
    await second.dispose();
    expect(countSessions()).toBe(0);
  });

  test('are created again after they were freed', async () => {
    await (await compileHere(negation())).dispose();
    const again = await compileHere(negation());
    expect(listOf(await again.run(feeds), 'y')).toEqual([-1, -2]);
  });

  test('are not shared by graphs of different structure', async () => {
    await compileHere(negation());
    await compileHere(makeGraph({ y: neg(input('z', ['M'])) }));
    await compileHere(makeGraph({ y: neg(input('x', [2])) }));
    expect(countSessions()).toBe(3);
  });

  test('are not shared by graphs with different thread counts', async () => {
    await compileHere(negation(), { threads: 1 });
    await compileHere(negation(), { threads: 2 });
    expect(countSessions()).toBe(2);
  });

  test('are not shared by graphs with different constants in memory', async () => {
    const ones = await compileHere(lookup(new Float32Array(1000).fill(1)));
    const twos = await compileHere(lookup(new Float32Array(1000).fill(2)));
    expect(countSessions()).toBe(2);
    expect(listOf(await ones.run(rowOne), 'y')).toEqual([1, 1]);
    expect(listOf(await twos.run(rowOne), 'y')).toEqual([2, 2]);
  });

  test('are not shared by graphs with different parts of one buffer', async () => {
    const buffer = Float32Array.from({ length: 2000 }, (_, i) => i);
    const first = await compileHere(lookup(buffer.subarray(0, 1000)));
    const second = await compileHere(lookup(buffer.subarray(1000)));
    expect(listOf(await first.run(rowOne), 'y')).toEqual([2, 3]);
    expect(listOf(await second.run(rowOne), 'y')).toEqual([1002, 1003]);
  });

  test('are not shared by graphs with different small constants', async () => {
    const plus = (number: number) => makeGraph({ y: add(input('x', ['M']), number) });
    const one = await compileHere(plus(1));
    const two = await compileHere(plus(2));
    expect(listOf(await one.run(feeds), 'y')).toEqual([2, 3]);
    expect(listOf(await two.run(feeds), 'y')).toEqual([3, 4]);
  });

  test('are shared by graphs with the same constant in memory', async () => {
    const table = new Float32Array(1000);
    await compileHere(lookup(table));
    await compileHere(lookup(table));
    expect(countSessions()).toBe(1);
  });
});

describe('devices', () => {
  const compileFor = (device: string) => {
    const options: CompileOptions = { device: device as Device };
    return compileHere(negation(), options);
  };

  test('that do not exist are rejected', async () => {
    await expect(compileFor('tpu')).rejects.toThrow(
      'Cannot compile for device "tpu": it must be one of cpu, webgpu, cuda, web',
    );
    expect(countSessions()).toBe(0);
  });

  test.each([
    ['webgpu', 'it needs a GPU with a Vulkan, Metal or Direct3D 12 driver; without it use "cpu" ('],
    [
      'cuda',
      'it needs Linux on x64 with CUDA 12 and ONNX Runtime\'s CUDA files (node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=cuda12); without it use "cpu" (',
    ],
  ])('%s computes, or is rejected with its requirements', async (device, requirement) => {
    const outcome = await compileFor(device).then(
      async (compiled) => listOf(await compiled.run(feeds), 'y').join(),
      ({ message }: Error) => message,
    );
    if (outcome !== '-1,-2') {
      expect(outcome).toContain(`Cannot compile for device "${device}": ${requirement}`);
    }
  });

  test('that were rejected leave the CPU usable', async () => {
    await compileFor('tpu').catch(() => undefined);
    const compiled = await compileFor('cpu');
    expect(listOf(await compiled.run(feeds), 'y')).toEqual([-1, -2]);
  });
});
