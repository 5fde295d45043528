import { describe, expect, test } from 'vitest';
import { floats, runGraph } from '../../../test/helpers/engine/run-graph.ts';
import { check, type Graph, makeGraph, substitute, topologicalOrder } from './graph.ts';
import { add, exp, mul, neg } from './ops/elementwise.ts';
import { constant, input } from './ops/source.ts';
import { print } from './print.ts';
import type { Value } from './value.ts';

const x = input('x', ['M', 2]);
const w = input('w', [2]);

describe('topologicalOrder()', () => {
  test('lists each value once, after its inputs', () => {
    const a = exp(x);
    const b = mul(a, w);
    const c = add(a, b);
    const order = topologicalOrder([c, b]);
    expect(order).toHaveLength(5);
    const place = (value: Value) => order.indexOf(value);
    for (const value of order) {
      for (const operand of value.inputs) expect(place(operand)).toBeLessThan(place(value));
    }
    expect(order.at(-1)).toBe(c);
  });

  test('follows the order of the roots and of the operands', () => {
    const [a, b] = [exp(w), neg(w)];
    expect(topologicalOrder([add(x, a), b]).map(({ op }) => op.name)).toEqual([
      'input',
      'input',
      'exp',
      'add',
      'neg',
    ]);
    expect(topologicalOrder([b, a])).toEqual([w, b, a]);
  });

  test('a chain of 100 000 ops does not exhaust the stack', () => {
    let chain = x;
    for (let i = 0; i < 100_000; i++) chain = neg(chain);
    expect(topologicalOrder([chain])).toHaveLength(100_001);
  });

  test('a value on 2⁶⁰ paths is visited once', () => {
    let doubled = x;
    for (let i = 0; i < 60; i++) doubled = add(doubled, doubled);
    expect(topologicalOrder([doubled])).toHaveLength(61);
  });
});

describe('makeGraph()', () => {
  test('values that no output needs are not part of the graph', () => {
    const used = neg(x);
    exp(mul(x, input('unused', ['M', 2])));
    const graph = makeGraph({ y: used });
    expect(Object.keys(graph.inputs)).toEqual(['x']);
    expect(print(graph)).toBe(
      ['graph(x: float32[M,2])', '  %0 = neg(x) : float32[M,2]', '  return y = %0'].join('\n'),
    );
  });

  test('lists its inputs in the order of use', () => {
    const graph = makeGraph({ y: mul(w, neg(x)), z: input('z', [], 'int32') });
    expect(graph.inputs).toEqual({ w, x, z: graph.outputs.z });
    expect(Object.keys(graph.inputs)).toEqual(['w', 'x', 'z']);
  });

  test('two different inputs with the same name are rejected', () => {
    const other = input('x', ['M', 2]);
    expect(() => makeGraph({ y: add(x, other) })).toThrow(
      new Error('Cannot build a graph: two different inputs are named "x"'),
    );
  });

  test('an output may be an input, a constant, or another output', async () => {
    const sum = add(w, 1);
    const graph = makeGraph({ w, sum, again: sum, three: constant(3) });
    expect(await runGraph(graph, { w: floats([1, 2], [2]) })).toEqual({
      w: [1, 2],
      sum: [2, 3],
      again: [2, 3],
      three: [3],
    });
  });
});

describe('check()', () => {
  const y = exp(mul(x, w));
  const broken = (change: Partial<Value>): Graph => ({
    inputs: { x, w },
    outputs: { y: neg({ ...y, ...change }) },
  });

  test('accepts a result of makeGraph', () => {
    expect(() => check(makeGraph({ y }))).not.toThrow();
  });

  test('finds a value whose shape was changed', () => {
    expect(() => check(broken({ shape: ['M', 3] }))).toThrow(
      new Error('Internal: exp is marked float32[M,3] but infers float32[M,2]'),
    );
  });

  test('finds a value whose dtype was changed', () => {
    const equalTypes = { inputs: { x, w }, outputs: { y: { ...y, dtype: 'int32' } as Value } };
    expect(() => check(equalTypes)).toThrow(
      new Error('Internal: exp is marked int32[M,2] but infers float32[M,2]'),
    );
  });

  test('finds an operand that does not match its op', () => {
    expect(() => check(broken({ inputs: [constant(1, { dtype: 'int32' })] }))).toThrow(
      new TypeError('Cannot apply exp: inputs must be float32, got int32[]'),
    );
  });

  test('finds an input that is not listed', () => {
    const message = 'Internal: the graph uses "w", which is not its input';
    expect(() => check({ inputs: { x }, outputs: { y } })).toThrow(new Error(message));
    const twin = input('w', [2]);
    expect(() => check({ inputs: { x, w: twin }, outputs: { y } })).toThrow(new Error(message));
  });
});

describe('substitute()', () => {
  const shared = exp(w);
  const y = mul(add(x, shared), shared);

  test('replaces a value wherever it is used', async () => {
    const [replaced] = substitute([y], (value) => (value === shared ? input('e', [2]) : undefined));
    // Two calls of `replace` for one value would create two inputs with the same name.
    const e = replaced?.inputs[1] as Value;
    expect(replaced?.inputs[0]?.inputs[1]).toBe(e);
    const graph = makeGraph({ y: replaced as Value });
    expect(Object.keys(graph.inputs)).toEqual(['x', 'e']);
    const feeds = { x: floats([1, 2], [1, 2]), e: floats([10, 20], [2]) };
    expect(await runGraph(graph, feeds)).toEqual({ y: [110, 440] });
  });

  test('keeps values that do not depend on a replaced one', () => {
    const untouched = neg(x);
    const [same, other] = substitute([untouched, y], (value) =>
      value === w ? input('v', [2]) : undefined,
    );
    expect(same).toBe(untouched);
    expect(other).not.toBe(y);
    expect(y.inputs[1]).toBe(shared);
  });

  test('does not visit the inputs of a replaced value', () => {
    const seen: string[] = [];
    substitute([y], (value) => {
      seen.push(value.op.name);
      return value === shared ? w : undefined;
    });
    expect(new Set(seen)).toEqual(new Set(['mul', 'add', 'input', 'exp']));
    expect(seen.filter((name) => name === 'input')).toHaveLength(1);
  });

  test('replaces a root, also a repeated one', () => {
    expect(substitute([y, shared, y], (value) => (value === y ? x : undefined))).toEqual([
      x,
      shared,
      x,
    ]);
  });

  test('a chain of 100 000 ops does not exhaust the stack', () => {
    let chain: Value = x;
    for (let i = 0; i < 100_000; i++) chain = neg(chain);
    const replacement = input('z', ['M', 2]);
    const [replaced] = substitute([chain], (value) => (value === x ? replacement : undefined));
    expect(topologicalOrder([replaced as Value])[0]).toBe(replacement);
  });
});
