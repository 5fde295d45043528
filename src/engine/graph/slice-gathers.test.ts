import { expect, test } from 'vitest';
import { runGraph } from '../../../test/helpers/runtime-run.ts';
import { tensor } from '../runtime/index.ts';
import { makeGraph, topologicalOrder } from './graph.ts';
import { add } from './ops/elementwise.ts';
import { gatherRows } from './ops/gather.ts';
import { slice } from './ops/layout.ts';
import { input } from './ops/source.ts';
import { sliceGathers } from './slice-gathers.ts';

const x = input('x', ['M', 2]);
const rows = gatherRows(x, input('index', ['N'], 'int32'));
const head = slice(rows, { axis: 0, end: 1 });
const feeds = {
  x: tensor(Float32Array.of(1, 2, 3, 4), [2, 2]),
  index: tensor(Int32Array.of(1, 0, 1), [3]),
};
const opsOf = (graph: ReturnType<typeof makeGraph>) =>
  topologicalOrder(Object.values(graph.outputs)).map(({ op, shape }) => `${op.name} ${shape}`);

test('a slice of gathered rows gathers only those', async () => {
  const graph = makeGraph({ y: add(head, slice(rows, { axis: 0, start: 2, end: 3 })) });
  const made = sliceGathers(graph);
  expect(opsOf(made).filter((op) => op.startsWith('gatherRows'))).toEqual([
    'gatherRows 1,2',
    'gatherRows 1,2',
  ]);
  const expected = { y: tensor(Float32Array.of(6, 8), [1, 2]) };
  expect(await runGraph(made, feeds)).toEqual(expected);
  expect(await runGraph(graph, feeds)).toEqual(expected);
});

test('slices of columns and of other values are unchanged', () => {
  const graph = makeGraph({
    columns: slice(rows, { axis: 1, end: 1 }),
    fed: slice(x, { axis: 0, end: 1 }),
  });
  expect(opsOf(sliceGathers(graph))).toEqual(opsOf(graph));
});

test('the inputs are unchanged, whether needed or not', () => {
  expect(Object.keys(sliceGathers(makeGraph({ head })).inputs)).toEqual(['x', 'index']);
});
