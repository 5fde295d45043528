import { describe, expect, test } from 'vitest';
import { countOps, typesOf } from '../../../test/helpers/engine/describe-graph.ts';
import { LORA_MLP_WRT, makeLoraMlp } from '../../../test/helpers/engine/lora-mlp.ts';
import { floats, runGraph } from '../../../test/helpers/engine/run-graph.ts';
import { expectClose } from '../../../test/helpers/expect-close.ts';
import { attention } from './functions.ts';
import { type GradOptions, grad, type SaveList } from './grad.ts';
import { type Graph, makeGraph } from './graph.ts';
import { exp, keep, mul } from './ops/elementwise.ts';
import { broadcastTo, reshape } from './ops/layout.ts';
import { sum } from './ops/reduce.ts';
import { constant, input } from './ops/source.ts';
import { print } from './print.ts';
import { formatType, type Value } from './value.ts';

describe('save lists', () => {
  const graph = makeLoraMlp();
  const options = { of: ['y'], wrt: LORA_MLP_WRT } satisfies GradOptions;
  const saves: SaveList[] = ['none', 'matmul', 'all'];
  /** Each adapted layer: two for its rows through the adapter, one through the weight, two for A and B; gate: one. */
  const BACKWARD_PRODUCTS = 5 + 5 + 1;
  const rows = 3;
  const feeds = Object.fromEntries(
    [...Object.entries(graph.inputs), ['d(y)', graph.outputs.y!] as const].map(
      ([name, { shape }], k) => {
        const sizes = shape.map((dim) => (dim === 'M' ? rows : Number(dim)));
        const count = sizes.reduce((a, b) => a * b, 1);
        return [
          name,
          floats(
            Array.from({ length: count }, (_, i) => Math.sin(7 * k + i)),
            sizes,
          ),
        ];
      },
    ),
  );

  test.each(saves)(
    '%s: forward and backward graphs return the gradients of the joint graph',
    async (save) => {
      const { forward, backward, joint } = grad(graph, { ...options, save });
      const { y, ...saved } = await runGraph(forward, feeds);
      const savedFeeds = Object.fromEntries(
        Object.entries(saved).map(([name, data]) => [
          name,
          floats(data, [rows, data.length / rows]),
        ]),
      );
      const gradients = await runGraph(backward, { ...feeds, ...savedFeeds });
      const expected = await runGraph(joint, feeds);
      expect(y).toEqual(expected.y);
      expect(Object.keys(gradients)).toEqual(LORA_MLP_WRT.map((name) => `d(${name})`));
      for (const [name, data] of Object.entries(gradients)) {
        expectClose(data, { expected: expected[name]!, within: 1e-6, label: name });
      }
    },
  );

  test('the joint graph does not depend on the save list and computes nothing twice', () => {
    const [none, matmulOnly, all] = saves.map((save) => grad(graph, { ...options, save }).joint);
    expect(print(matmulOnly!)).toBe(print(none!));
    expect(print(all!)).toBe(print(none!));
    const silus = saves.map((save) => countOps(grad(graph, { ...options, save }).backward, 'silu'));
    expect([countOps(none!, 'silu'), ...silus]).toEqual([1, 1, 1, 0]);
  });

  test('none: the forward graph is the graph itself, and the backward graph takes its inputs', () => {
    const { forward, backward } = grad(graph, { ...options, save: 'none' });
    expect(print(forward)).toBe(print(graph));
    expect(Object.keys(backward.inputs).sort()).toEqual(
      [...Object.keys(graph.inputs), 'd(y)'].sort(),
    );
    // Gate, up, both halves of its adapter and the first half of down's adapter are computed again.
    expect(countOps(backward, 'matmul')).toBe(5 + BACKWARD_PRODUCTS);
  });

  test('matmul: products with weights are saved, the sum of a module and its adapter as one', () => {
    const { forward, backward } = grad(graph, { ...options, save: 'matmul' });
    const { y: _, ...saved } = forward.outputs;
    expect(
      Object.values(saved)
        .map(({ op }) => op.name)
        .sort(),
    ).toEqual(['add', 'matmul', 'matmul', 'matmul']);
    expect(Object.values(typesOf(saved)).sort()).toEqual([
      'float32[M,2]',
      'float32[M,2]',
      'float32[M,6]',
      'float32[M,6]',
    ]);
    expectSavedToMeet({ forward, backward });
    expect(countOps(backward, 'matmul')).toBe(BACKWARD_PRODUCTS);
  });

  test('matmul: inside attention only marked values are saved', () => {
    const q = input('q', ['B', 2, 'T', 4]);
    const [k, v] = [input('k', ['B', 1, 'T', 4]), input('v', ['B', 1, 'T', 4])];
    const mixed = attention({ q, k, v, bias: input('bias', ['T', 'T']) });
    const graphsOf = (y: Value) => grad(makeGraph({ y }), { of: ['y'], wrt: ['q', 'k', 'v'] });
    expect(typesOf(graphsOf(exp(mixed)).forward.outputs)).toEqual({ y: 'float32[B,2,T,4]' });
    const { forward, backward } = graphsOf(exp(keep(mixed)));
    expect(typesOf(forward.outputs)).toEqual({
      y: 'float32[B,2,T,4]',
      'saved(0)': 'float32[B,2,T,4]',
    });
    expect(countOps(backward, 'softmax')).toBe(1);
    expectSavedToMeet({ forward, backward });
  });

  test('all: every forward value that the backward graph reads is saved, and no other', () => {
    const { forward, backward } = grad(graph, { ...options, save: 'all' });
    const { y: _, ...saved } = forward.outputs;
    const savedOps = Object.values(saved).map((value) => `${value.op.name}: ${formatType(value)}`);
    expect(savedOps.sort()).toEqual([
      'add: float32[M,6]', // up with its adapter
      'matmul: float32[M,2]', // inside up's adapter
      'matmul: float32[M,2]', // inside down's adapter
      'matmul: float32[M,6]', // gate
      'mul: float32[M,6]', // the product of gate and up
      'rmsNorm: float32[M,4]',
      'silu: float32[M,6]',
    ]);
    expectSavedToMeet({ forward, backward });
    expect(countOps(backward, 'rmsNorm')).toBe(0);
  });

  test('all: views are computed again; constants and inputs are not saved', () => {
    const e = exp(input('x', [2, 2]));
    const view = broadcastTo(reshape(e, [4]), [3, 4]);
    const y = mul(mul(view, view), mul(input('c', [4]), constant(3)));
    const { forward, backward } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'], save: 'all' });
    expect(typesOf(forward.outputs)).toEqual({
      y: 'float32[3,4]',
      'saved(0)': 'float32[2,2]',
      'saved(1)': 'float32[4]',
    });
    expect(forward.outputs['saved(0)']).toBe(e);
    expect(forward.outputs['saved(1)']?.op.name).toBe('mul');
    expect(Object.keys(backward.inputs).sort()).toEqual(['d(y)', 'saved(0)', 'saved(1)']);
  });

  test('a value that is an output is saved as well', () => {
    const y = exp(input('x', ['M']));
    const { forward } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'], save: 'all' });
    expect(forward.outputs).toEqual({ y, 'saved(0)': y });
  });

  test('products are saved by default', () => {
    const byDefault = grad(graph, options);
    const matmulOnly = grad(graph, { ...options, save: 'matmul' });
    expect(print(byDefault.forward)).toBe(print(matmulOnly.forward));
    expect(print(byDefault.backward)).toBe(print(matmulOnly.backward));
  });
});

/** The outputs of one graph match the inputs of the other in names and types. */
function expectSavedToMeet({ forward, backward }: { forward: Graph; backward: Graph }): void {
  const saved = (types: Record<string, string>) =>
    Object.entries(types).filter(([name]) => name.startsWith('saved('));
  const outputs = saved(typesOf(forward.outputs));
  expect(outputs.length).toBeGreaterThan(0);
  expect(saved(typesOf(backward.inputs)).sort()).toEqual(outputs.sort());
}

test('a backward graph takes an input that binds a symbolic size', async () => {
  const graph = makeGraph({ y: sum(input('x', ['M', 2])) });
  const { backward } = grad(graph, { of: ['y'], wrt: ['x'], save: 'none' });
  expect(Object.keys(backward.inputs)).toEqual(['x']);
  const x = floats([1, 2, 3, 4, 5, 6], [3, 2]);
  expect(await runGraph(backward, { x })).toEqual({ 'd(x)': [1, 1, 1, 1, 1, 1] });
});
