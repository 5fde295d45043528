import { describe, expect, test } from 'vitest';
import { add, input, makeGraph, matmul } from '../graph/index.ts';
import { compile } from './compile.ts';
import { observeRuns, type RunRecord } from './observe-runs.ts';
import { tensor } from './tensor.ts';

const zeros = (...shape: number[]) =>
  tensor(new Float32Array(shape.reduce((size, dim) => size * dim, 1)), shape);

describe('observeRuns()', () => {
  test('reports the operations of every run until it is stopped', async () => {
    const a = input('a', ['B', 'M', 3]);
    const b = input('b', [3, 4]);
    const t = input('t', ['M', 'N']);
    const graph = makeGraph({
      y: add(matmul(a, b), 1),
      z: matmul(t, input('u', ['M', 5]), { transA: true }),
    });
    const compiled = await compile(graph);
    const feeds = { a: zeros(2, 2, 3), b: zeros(3, 4), t: zeros(2, 6), u: zeros(2, 5) };
    const records: RunRecord[] = [];
    const end = observeRuns((record) => records.push(record));
    await compiled.run(feeds);
    end();
    await compiled.run(feeds);
    // 2 of [2, 3]·[3, 4]: 2·48; [6, 2]·[2, 5]: 2·6·2·5.
    expect(records.map(({ flops }) => flops)).toEqual([2 * 48 + 120]);
    expect(records[0]!.seconds).toBeGreaterThan(0);
    await compiled.dispose();
  });
});
