import { describe, expect, test } from 'vitest';
import { buildLayer, readBlockGolden } from '../../../test/helpers/block-golden.ts';
import { type DecodedModel, decodeModel } from '../../../test/helpers/runtime-onnx-decoder.ts';
import { listOf, runValues } from '../../../test/helpers/runtime-run.ts';
import {
  add,
  broadcastTo,
  concat,
  constant,
  count,
  type Graph,
  grad,
  input,
  makeGraph,
  matmul,
  mean,
  mul,
  neg,
  pad,
  reshape,
  slice,
  sum,
  topKIndices,
} from '../graph/index.ts';
import { compile, tensor } from '../runtime/index.ts';
import { lower, outputName } from './lower.ts';

const floats = (values: readonly number[], shape: readonly number[]) =>
  tensor(Float32Array.from(values), shape);
/** 1, 2, 3, … in the given shape. */
const upTo = (...shape: number[]) => {
  const size = shape.reduce((a, b) => a * b, 1);
  return floats(
    Array.from({ length: size }, (_, i) => i + 1),
    shape,
  );
};
const decode = (graph: Graph) => decodeModel(lower(graph).bytes);

describe('the model of a graph', () => {
  const weight = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const x = input('x', ['B', 'T', 4]);
  const product = matmul(x, constant(weight, { shape: [2, 4] }), { transB: true, alpha: 0.5 });
  const model = decode(makeGraph({ y: reshape(product, ['B*T', 2]) }));

  test('has its ops as nodes, and nodes that compute the symbolic size', () => {
    expect(model.nodes.map(({ domain, opType }) => [domain, opType])).toEqual([
      ['com.microsoft', 'FusedMatMul'],
      ['', 'Shape'],
      ['', 'Shape'],
      ['', 'Mul'],
      ['', 'Concat'],
      ['', 'Reshape'],
    ]);
  });

  test('has attributes of the types that ONNX declares', () => {
    const [product, sizeOfB, sizeOfT, , , reshaped] = model.nodes;
    expect(product?.attributes).toEqual({
      transA: { int: 0 },
      transB: { int: 1 },
      alpha: { float: 0.5 },
    });
    expect(sizeOfB?.attributes).toEqual({ start: { int: 0 }, end: { int: 1 } });
    expect(sizeOfT?.attributes).toEqual({ start: { int: 1 }, end: { int: 2 } });
    expect(reshaped?.attributes).toEqual({ allowzero: { int: 1 } });
  });

  test('has inputs and outputs with symbolic sizes', () => {
    expect(model.inputs).toEqual([{ name: 'x', dataType: 1, dims: ['B', 'T', 4] }]);
    expect(model.outputs).toEqual([{ name: outputName('y'), dataType: 1, dims: ['B*T', 2] }]);
  });

  test('has constants as initialisers', () => {
    const [two, stored] = model.initializers;
    expect(two).toMatchObject({
      dataType: 7,
      dims: [1],
      raw: new Uint8Array(BigInt64Array.of(2n).buffer),
    });
    expect(stored).toMatchObject({ dataType: 1, dims: [2, 4], raw: new Uint8Array(weight.buffer) });
    expect(model.initializers).toHaveLength(2);
  });

  test('names nodes after the values that they compute', () => {
    const { nodes } = lower(makeGraph({ y: neg(add(x, 1)) }));
    const names = decode(makeGraph({ y: neg(add(x, 1)) })).nodes.map(({ name }) => name);
    expect(names).toEqual(['%0 add', '%1 neg']);
    expect([nodes.get('%0')?.op, nodes.get('%1')?.op]).toEqual(['add', 'neg']);
  });

  test('leaves an optional operand empty', () => {
    const { nodes } = decode(makeGraph({ y: pad(x, { axis: 1, after: 1 }) }));
    expect(nodes.map(({ inputs }) => inputs[2])).toEqual(['']);
  });

  test('uses the right output of a node with several', () => {
    const { nodes } = decode(makeGraph({ y: topKIndices(x, 2) }));
    const topK = nodes.find(({ opType }) => opType === 'TopK');
    const read = nodes.flatMap(({ inputs }) => inputs);
    expect(topK?.outputs.map((name) => read.includes(name))).toEqual([false, true]);
  });
});

/** Reads that come before the tensor is written, and names written twice. */
function misplacedTensors({ nodes, inputs, initializers }: DecodedModel): string[] {
  const written = new Set([...inputs, ...initializers].map(({ name }) => name));
  const misplaced: string[] = [];
  for (const node of nodes) {
    misplaced.push(...node.inputs.filter((name) => name !== '' && !written.has(name)));
    for (const name of node.outputs.filter((output) => output !== '')) {
      if (written.has(name)) misplaced.push(name);
      written.add(name);
    }
  }
  return misplaced;
}

describe('the models of a decoder block', () => {
  const { config, lora } = readBlockGolden();
  const block = buildLayer(config, lora);
  const { forward, backward, joint } = grad(block, { of: ['y'], wrt: ['x'] });

  test.each(Object.entries({ block, forward, backward, joint }))(
    '%s writes each tensor once, before it is read',
    (_, graph) => {
      expect(misplacedTensors(decode(graph))).toEqual([]);
    },
  );

  test.each(Object.entries({ block, forward, backward, joint }))(
    '%s writes every output',
    (_, graph) => {
      const model = decode(graph);
      const written = new Set(model.nodes.flatMap(({ outputs }) => outputs));
      const names = Object.keys(graph.outputs).map(outputName);
      expect(model.outputs.map(({ name }) => name)).toEqual(names);
      expect(names.filter((name) => !written.has(name))).toEqual([]);
    },
  );
});

describe('sizes known only at run time', () => {
  test('reshape to B*T and back follows each run', async () => {
    const x = input('x', ['B', 'T', 2]);
    const rows = reshape(x, ['B*T', 2]);
    const turned = reshape(mul(rows, 10), ['T', 'B', 2]);
    const compiled = await compile(makeGraph({ rows, turned }));
    for (const [b, t] of [
      [2, 3],
      [1, 5],
      [3, 1],
    ] as const) {
      const fed = upTo(b, t, 2);
      const outputs = await compiled.run({ x: fed });
      expect(outputs.rows).toEqual(tensor(fed.data, [b * t, 2]));
      expect(outputs.turned).toEqual(
        tensor(
          fed.data.map((value) => value * 10),
          [t, b, 2],
        ),
      );
    }
    await compiled.dispose();
  });

  test('reshape to P+T rows uses the sum of two inputs’ sizes', async () => {
    const both = concat([input('past', ['P', 2]), input('now', ['T', 2])], 0);
    const outputs = await runValues(
      { both, flat: reshape(both, ['2*P+2*T']) },
      { past: floats([1, 2, 3, 4], [2, 2]), now: floats([5, 6], [1, 2]) },
    );
    expect(outputs.both).toEqual(upTo(3, 2));
    expect(outputs.flat).toEqual(upTo(6));
  });

  test('slice accepts symbolic bounds, also with a negative term', async () => {
    const both = concat([input('past', ['P']), input('now', ['T'])], 0);
    const outputs = await runValues(
      {
        tail: slice(both, { start: 'P', end: 'P+T' }),
        butLast: slice(both, { end: 'P+T-1' }),
      },
      { past: floats([1, 2], [2]), now: floats([3, 4, 5], [3]) },
    );
    expect(outputs.tail).toEqual(floats([3, 4, 5], [3]));
    expect(outputs.butLast).toEqual(floats([1, 2, 3, 4], [4]));
  });

  test('pad accepts symbolic amounts', async () => {
    const x = input('x', ['T', 1]);
    const outputs = await runValues(
      { y: pad(x, { axis: 0, before: 'P', after: 1 }), past: input('past', ['P']) },
      { x: floats([7, 8], [2, 1]), past: floats([0, 0, 0], [3]) },
    );
    expect(outputs.y).toEqual(floats([0, 0, 0, 7, 8, 0], [6, 1]));
  });

  test('broadcastTo accepts a size that only another input has', async () => {
    const x = input('x', [1, 'T']);
    const outputs = await runValues(
      { y: broadcastTo(x, ['B', 'T']), other: input('other', ['B']) },
      { x: floats([1, 2], [1, 2]), other: floats([0, 0, 0], [3]) },
    );
    expect(outputs.y).toEqual(floats([1, 2, 1, 2, 1, 2], [3, 2]));
  });

  test('count and mean follow each run', async () => {
    const x = input('x', ['B', 'T', 2]);
    const compiled = await compile(
      makeGraph({ all: count(x), tokens: count(x, [0, 1]), mean: mean(x) }),
    );
    const six = await compiled.run({ x: upTo(1, 3, 2) });
    expect([six.all, six.tokens, six.mean]).toEqual([
      floats([6], []),
      floats([3], []),
      floats([3.5], [1, 1, 1]),
    ]);
    const eight = await compiled.run({ x: upTo(2, 2, 2) });
    expect([eight.all, eight.tokens, eight.mean]).toEqual([
      floats([8], []),
      floats([4], []),
      floats([4.5], [1, 1, 1]),
    ]);
    await compiled.dispose();
  });

  test('a size may be zero', async () => {
    const x = input('x', ['B', 'T']);
    const outputs = await runValues(
      { flat: reshape(x, ['B*T']), columns: sum(x, [0]), count: count(x) },
      { x: floats([], [0, 3]) },
    );
    expect(outputs.flat).toEqual(floats([], [0]));
    expect(outputs.columns).toEqual(floats([0, 0, 0], [1, 3]));
    expect(outputs.count).toEqual(floats([0], []));
  });

  test('a size that no input has is rejected', () => {
    const x = input('x', ['B*T']);
    expect(() => lower(makeGraph({ y: reshape(x, ['B', 'T']) }))).toThrow(
      new Error(
        'Cannot lower the graph: no input has an axis of size B, so it is unknown at run time',
      ),
    );
  });
});

describe('outputs', () => {
  const x = input('x', ['M']);
  const feeds = { x: floats([1, 2], [2]) };

  test('may be an input, which is then copied', async () => {
    const outputs = await runValues({ y: x }, feeds);
    expect(outputs.y).toEqual(floats([1, 2], [2]));
    expect(outputs.y?.data).not.toBe(feeds.x.data);
  });

  test('may be an input of the same name', async () => {
    expect(await runValues({ x }, feeds)).toEqual({ x: floats([1, 2], [2]) });
  });

  test('may share the name of a different input', async () => {
    const z = input('z', ['M']);
    const outputs = await runValues(
      { x: neg(z), z: add(x, z) },
      { ...feeds, z: floats([5, 6], [2]) },
    );
    expect(outputs).toEqual({ x: floats([-5, -6], [2]), z: floats([6, 8], [2]) });
  });

  test('may be one value with two names, which is computed once', async () => {
    const y = neg(x);
    const outputs = await runValues({ first: y, second: y }, feeds);
    expect(outputs).toEqual({ first: floats([-1, -2], [2]), second: floats([-1, -2], [2]) });
    const negations = decode(makeGraph({ first: y, second: y })).nodes.filter(
      ({ opType }) => opType === 'Neg',
    );
    expect(negations).toHaveLength(1);
  });

  test('may be read by other ops', async () => {
    const y = neg(x);
    const outputs = await runValues({ y, z: mul(y, y), again: y }, feeds);
    expect([listOf(outputs, 'y'), listOf(outputs, 'z'), listOf(outputs, 'again')]).toEqual([
      [-1, -2],
      [1, 4],
      [-1, -2],
    ]);
  });

  test('may be constants: scalar, small and large', async () => {
    const large = Float32Array.from({ length: 1000 }, (_, i) => i);
    const outputs = await runValues({
      scalar: constant(4),
      small: constant(Int32Array.of(1, -2), { shape: [2], dtype: 'int32' }),
      large: constant(large, { shape: [500, 2] }),
    });
    expect(outputs).toEqual({
      scalar: floats([4], []),
      small: tensor(Int32Array.of(1, -2), [2]),
      large: tensor(large, [500, 2]),
    });
  });

  test('are in the order of the graph', async () => {
    const outputs = await runValues({ b: neg(x), a: x, c: constant(1) }, feeds);
    expect(Object.keys(outputs)).toEqual(['b', 'a', 'c']);
  });
});
