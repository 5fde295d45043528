import { describe, expect, test } from 'vitest';
import { listOf, runGraph, runValues } from '../../../test/helpers/runtime-run.ts';
import {
  add,
  argmax,
  cast,
  exp,
  gatherRows,
  greater,
  input,
  makeGraph,
  matmul,
  mul,
  neg,
  reshape,
} from '../graph/index.ts';
import { compile } from './compile.ts';
import { tensor } from './tensor.ts';

const floats = (...values: number[]) => tensor(Float32Array.from(values), [values.length]);
const x = input('x', ['M']);

describe('run()', () => {
  test('does not copy feeds: a changed array changes the next run', async () => {
    const compiled = await compile(makeGraph({ y: mul(x, 2) }));
    const feeds = { x: floats(1, 2) };
    expect(listOf(await compiled.run(feeds), 'y')).toEqual([2, 4]);
    feeds.x.data[1] = 50;
    expect(listOf(await compiled.run(feeds), 'y')).toEqual([2, 100]);
    await compiled.dispose();
  });

  test('reads a feed in the middle of a larger buffer', async () => {
    const part = Float32Array.of(9, 1, 2, 9).subarray(1, 3);
    expect(listOf(await runValues({ y: neg(x) }, { x: tensor(part, [2]) }), 'y')).toEqual([-1, -2]);
  });

  test('returns new arrays that later runs do not change', async () => {
    const compiled = await compile(makeGraph({ y: neg(x), same: x }));
    const feeds = { x: floats(1, 2) };
    const first = await compiled.run(feeds);
    feeds.x.data.fill(7);
    const second = await compiled.run(feeds);
    expect(first).toEqual({ y: floats(-1, -2), same: floats(1, 2) });
    expect(second).toEqual({ y: floats(-7, -7), same: floats(7, 7) });
    await compiled.dispose();
  });

  test('returns outputs by name, of every dtype', async () => {
    const scores = reshape(x, [1, 'M']);
    const outputs = await runValues(
      {
        'd(x)': neg(x),
        best: argmax(scores),
        positive: greater(x, 0),
        half: cast(x, 'float16'),
      },
      { x: floats(-1, 1.5) },
    );
    expect(outputs).toEqual({
      'd(x)': floats(1, -1.5),
      best: tensor(Int32Array.of(1), [1]),
      positive: tensor(Uint8Array.of(0, 1), [2]),
      half: tensor(Uint16Array.of(0xbc00, 0x3e00), [2]),
    });
  });

  test('accepts feeds of every dtype', async () => {
    const outputs = await runValues(
      {
        int: input('int', ['M'], 'int32'),
        bool: cast(input('bool', ['M'], 'bool'), 'float32'),
        half: cast(input('half', ['M'], 'float16'), 'float32'),
      },
      {
        int: tensor(Int32Array.of(-5, 2 ** 31 - 1), [2]),
        bool: tensor(Uint8Array.of(1, 0), [2]),
        half: tensor(Uint16Array.of(0xbc00, 0x3e00), [2]),
      },
    );
    expect(outputs).toEqual({
      int: tensor(Int32Array.of(-5, 2 ** 31 - 1), [2]),
      bool: floats(1, 0),
      half: floats(-1, 1.5),
    });
  });

  test('binds symbolic sizes in each run', async () => {
    const compiled = await compile(makeGraph({ y: neg(x) }));
    expect(await compiled.run({ x: floats(1, 2, 3) })).toEqual({ y: floats(-1, -2, -3) });
    expect(await compiled.run({ x: floats(4) })).toEqual({ y: floats(-4) });
    expect(await compiled.run({ x: floats() })).toEqual({ y: floats() });
    await compiled.dispose();
  });

  test('can run concurrently on one graph', async () => {
    const a = input('a', ['M', 64]);
    const compiled = await compile(makeGraph({ y: matmul(a, a, { transB: true }) }));
    const runs = Array.from({ length: 8 }, (_, k) =>
      compiled.run({ a: tensor(new Float32Array((k + 1) * 64).fill(k), [k + 1, 64]) }),
    );
    const products = await Promise.all(runs);
    products.forEach((outputs, k) => {
      const size = k + 1;
      expect(outputs.y).toEqual(
        tensor(new Float32Array(size * size).fill(64 * k * k), [size, size]),
      );
    });
    await compiled.dispose();
  });

  test('computes the same with one thread and with two', async () => {
    const [rows, inner] = [96, 128];
    const a = input('a', [rows, inner]);
    const b = input('b', [inner, rows]);
    const graph = makeGraph({ y: matmul(a, b) });
    // Whole numbers: their sums are exact in any order.
    const data = (seed: number) =>
      Float32Array.from({ length: rows * inner }, (_, i) => ((i * seed) % 13) - 6);
    const feeds = { a: tensor(data(7), [rows, inner]), b: tensor(data(5), [inner, rows]) };
    const one = await runGraph(graph, feeds, { threads: 1 });
    const two = await runGraph(graph, feeds, { threads: 2 });
    expect(two).toEqual(one);
    const corner = feeds.a.data
      .subarray(0, inner)
      .reduce((sum, value, k) => sum + value * (feeds.b.data[k * rows] as number), 0);
    expect(one.y?.data[0]).toBe(corner);
  });
});

describe('a failed run', () => {
  const rows = input('rows', ['N'], 'int32');
  const graph = makeGraph({ y: exp(add(gatherRows(input('table', ['V', 2]), rows), 1)) });
  const table = tensor(new Float32Array(6), [3, 2]);
  const index = (...values: number[]) => tensor(Int32Array.from(values), [values.length]);

  test('names our op, its shapes and the reason', async () => {
    await expect(runGraph(graph, { table, rows: index(0, 7, 1, 2) })).rejects.toThrow(
      "Cannot run gatherRows(float32[3,2], int32[4]) → float32[4,2]: Non-zero status code returned while running Gather node. Name:'%0 gatherRows' Status Message: indices element out of data bounds, idx=7 must be within the inclusive range [-3,2]",
    );
  });

  test('leaves the graph usable', async () => {
    const compiled = await compile(graph);
    await expect(compiled.run({ table, rows: index(3) })).rejects.toThrow('idx=3');
    const outputs = await compiled.run({ table, rows: index(2) });
    expect(outputs.y).toEqual(tensor(new Float32Array(2).fill(Math.E), [1, 2]));
    await compiled.dispose();
  });

  test('does not affect a concurrent run', async () => {
    const compiled = await compile(graph);
    const [failed, succeeded] = await Promise.allSettled([
      compiled.run({ table, rows: index(3) }),
      compiled.run({ table, rows: index(2) }),
    ]);
    expect([failed.status, succeeded.status]).toEqual(['rejected', 'fulfilled']);
    await compiled.dispose();
  });
});

describe('dispose()', () => {
  test('may be called twice', async () => {
    const compiled = await compile(makeGraph({ y: neg(x) }));
    await compiled.dispose();
    await expect(compiled.dispose()).resolves.toBeUndefined();
  });

  test('makes later runs throw', async () => {
    const compiled = await compile(makeGraph({ y: neg(x) }));
    await compiled.dispose();
    await expect(compiled.run({ x: floats(1) })).rejects.toThrow(
      new Error('Cannot run the graph: it was disposed'),
    );
  });

  test('waits for a current run', async () => {
    const compiled = await compile(makeGraph({ y: neg(x) }));
    const running = compiled.run({ x: floats(1, 2) });
    await compiled.dispose();
    expect(await running).toEqual({ y: floats(-1, -2) });
  });
});
