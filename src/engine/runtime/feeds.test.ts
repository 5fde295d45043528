import { describe, expect, test } from 'vitest';
import { add, gatherRows, input, makeGraph, matmul, neg } from '../graph/index.ts';
import { compile } from './compile.ts';
import { bindFeeds, type Feeds, resolveShape } from './feeds.ts';
import { tensor } from './tensor.ts';

const floats = (...shape: number[]) =>
  tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);
const ints = (...shape: number[]) =>
  tensor(new Int32Array(shape.reduce((a, b) => a * b, 1)), shape);

const graph = makeGraph({
  y: gatherRows(matmul(input('x', ['M', 4]), input('w', [4, 2])), input('rows', ['N'], 'int32')),
  z: add(input('residual', ['M', 2]), 1),
});
const good: Feeds = { x: floats(3, 4), w: floats(4, 2), rows: ints(5), residual: floats(3, 2) };

/** The error of a run with these feeds in place of the valid ones. */
async function errorOf(feeds: Feeds): Promise<Error> {
  const compiled = await compile(graph);
  try {
    return await compiled.run(feeds).then(
      () => new Error('not rejected'),
      (error: Error) => error,
    );
  } finally {
    await compiled.dispose();
  }
}

describe('bindFeeds()', () => {
  test('binds each symbol to its size in the feeds', () => {
    expect(Object.fromEntries(bindFeeds(graph, good))).toEqual({ M: 3, N: 5 });
  });

  test('checks sums and products of symbols too', () => {
    const both = makeGraph({
      y: neg(input('both', ['P+T', 2])),
      flat: input('flat', ['P*T']),
      past: input('past', ['P']),
      now: input('now', ['T']),
    });
    const feeds = { both: floats(5, 2), flat: floats(6), past: floats(2), now: floats(3) };
    expect(Object.fromEntries(bindFeeds(both, feeds))).toEqual({ P: 2, T: 3 });
    expect(() => bindFeeds(both, { ...feeds, both: floats(6, 2) })).toThrow(
      new TypeError(
        'Cannot run the graph: input "both" must be float32[P+T,2] = [5,2] with the other inputs, got float32[6,2]',
      ),
    );
  });
});

describe('resolveShape()', () => {
  test('replaces symbols with sizes', () => {
    const bindings = new Map([
      ['B', 2],
      ['T', 5],
    ]);
    expect(resolveShape(['B', 7, '2*B*T-1', 'B+T'], bindings)).toEqual([2, 7, 19, 7]);
  });
});

describe('a run is rejected', () => {
  test('when a shape is wrong', async () => {
    expect(await errorOf({ ...good, w: floats(2, 4) })).toEqual(
      new TypeError('Cannot run the graph: input "w" must be float32[4,2], got float32[2,4]'),
    );
  });

  test('when a fixed size of a symbolic shape is wrong', async () => {
    expect(await errorOf({ ...good, residual: floats(3, 3) })).toEqual(
      new TypeError(
        'Cannot run the graph: input "residual" must be float32[M,2] = [3,2] with the other inputs, got float32[3,3]',
      ),
    );
  });

  test('when a rank is too high', async () => {
    expect(await errorOf({ ...good, residual: floats(3, 2, 1) })).toEqual(
      new TypeError(
        'Cannot run the graph: input "residual" must be float32[M,2] = [3,2] with the other inputs, got float32[3,2,1]',
      ),
    );
  });

  test('when a rank is too low', async () => {
    expect(await errorOf({ ...good, residual: floats(6) })).toEqual(
      new TypeError(
        'Cannot run the graph: input "residual" must be float32[M,2] = [3,2] with the other inputs, got float32[6]',
      ),
    );
  });

  test('when a dtype is wrong', async () => {
    expect(await errorOf({ ...good, w: ints(4, 2) })).toEqual(
      new TypeError('Cannot run the graph: input "w" must be float32[4,2], got int32[4,2]'),
    );
    expect(await errorOf({ ...good, rows: floats(5) })).toEqual(
      new TypeError(
        'Cannot run the graph: input "rows" must be int32[N] = [5] with the other inputs, got float32[5]',
      ),
    );
  });

  test('when two inputs have different sizes for a symbol', async () => {
    expect(await errorOf({ ...good, residual: floats(4, 2) })).toEqual(
      new TypeError(
        'Cannot run the graph: input "residual" must be float32[M,2] = [3,2] with the other inputs, got float32[4,2]',
      ),
    );
  });

  test('when an input is not fed', async () => {
    const { w: _, ...others } = good;
    expect(await errorOf(others)).toEqual(
      new Error('Cannot run the graph: input "w" (float32[4,2]) is not fed'),
    );
  });

  test('when a feed is unknown', async () => {
    expect(await errorOf({ ...good, residuals: floats(3, 2) })).toEqual(
      new Error(
        'Cannot run the graph: it has no input "residuals"; its inputs are x, w, rows, residual',
      ),
    );
  });
});
