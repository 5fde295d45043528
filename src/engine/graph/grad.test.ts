import { describe, expect, test } from 'vitest';
import { loraLinear } from '../../../test/helpers/engine/call-function.ts';
import { countOps, typesOf } from '../../../test/helpers/engine/describe-graph.ts';
import { floats, integers, runGraph } from '../../../test/helpers/engine/run-graph.ts';
import { type GradOptions, grad } from './grad.ts';
import { makeGraph } from './graph.ts';
import { add, equal, exp, mul, neg, sign, sub, where } from './ops/elementwise.ts';
import { rope } from './ops/fused.ts';
import { gatherRows, permuteRows } from './ops/gather.ts';
import { concat, reshape, slice, split } from './ops/layout.ts';
import { maxOf, sum } from './ops/reduce.ts';
import { input } from './ops/source.ts';
import { print } from './print.ts';
import type { Value } from './value.ts';

const scalar = (value: number) => floats([value], []);

describe('gradients add up', () => {
  const x = input('x', []);

  test('a value used three times, twice by one op: d(x² + 3x) = 2x + 3', async () => {
    const { joint } = grad(makeGraph({ y: add(mul(x, x), mul(x, 3)) }), { of: ['y'], wrt: ['x'] });
    expect(await runGraph(joint, { x: scalar(2) })).toEqual({ y: [10], 'd(x)': [7] });
  });

  test('an inner value used three times: h = 2x, d(h·h + h) = 2·(2h + 1)', async () => {
    const h = mul(x, 2);
    const { joint } = grad(makeGraph({ y: add(mul(h, h), h) }), { of: ['y'], wrt: ['x'] });
    expect(await runGraph(joint, { x: scalar(3) })).toEqual({ y: [42], 'd(x)': [26] });
  });

  test('uses that cancel leave zero', async () => {
    const { joint } = grad(makeGraph({ y: sub(exp(x), exp(x)) }), { of: ['y'], wrt: ['x'] });
    expect(await runGraph(joint, { x: scalar(1) })).toEqual({ y: [0], 'd(x)': [0] });
  });

  test('a value used by two of three outputs gets only the requested cotangents', async () => {
    const v = input('v', [2]);
    const graph = makeGraph({ double: mul(v, 2), square: mul(v, v), other: neg(v) });
    const feeds = {
      v: floats([3, -1], [2]),
      'd(double)': floats([1, 10], [2]),
      'd(square)': floats([100, 1000], [2]),
      'd(other)': floats([7, 7], [2]),
    };
    const gradientOf = async (of: string[]) => {
      const { backward } = grad(graph, { of, wrt: ['v'] });
      return (await runGraph(backward, feeds))['d(v)'];
    };
    expect(await gradientOf(['double'])).toEqual([2, 20]);
    expect(await gradientOf(['double', 'square'])).toEqual([602, -1980]);
    expect(await gradientOf(['double', 'square', 'other'])).toEqual([595, -1987]);
  });

  test('an output on the path to another adds its own cotangent', async () => {
    const v = input('v', [2]);
    const inner = mul(v, 3);
    const graph = makeGraph({ inner, outer: mul(inner, inner) });
    const { backward } = grad(graph, { of: ['inner', 'outer'], wrt: ['v'] });
    const feeds = {
      v: floats([1, 2], [2]),
      'd(inner)': floats([1, 0], [2]),
      'd(outer)': floats([1, 1], [2]),
    };
    // d(outer)/d(inner) = 2·inner = 6, 12; with d(inner): 7, 12; times 3.
    expect(await runGraph(backward, feeds)).toEqual({ 'd(v)': [21, 36] });
  });

  test('a broadcast operand gets the sum over its copies', async () => {
    const graph = makeGraph({ y: mul(input('m', ['M', 2]), input('row', [2])) });
    const { joint } = grad(graph, { of: ['y'], wrt: ['row'] });
    const feeds = {
      m: floats([1, 2, 3, 4, 5, 6], [3, 2]),
      row: floats([1, 1], [2]),
      'd(y)': floats([1, 1, 10, 10, 100, 100], [3, 2]),
    };
    expect((await runGraph(joint, feeds))['d(row)']).toEqual([531, 642]);
  });

  test('gatherRows adds up the gradients of a repeated row', async () => {
    const graph = makeGraph({ y: gatherRows(input('x', [3, 2]), input('i', ['N'], 'int32')) });
    const { backward } = grad(graph, { of: ['y'], wrt: ['x'] });
    const feeds = {
      i: integers([2, 0, 2, 2], [4]),
      'd(y)': floats([1, 2, 10, 20, 100, 200, 1000, 2000], [4, 2]),
    };
    expect(await runGraph(backward, feeds)).toEqual({ 'd(x)': [10, 20, 0, 0, 1101, 2202] });
  });

  test('rows that are not in the inverse of permuteRows have no gradient', async () => {
    const y = permuteRows(
      input('x', [2, 1]),
      input('index', [2, 2], 'int32'),
      input('inverse', [2], 'int32'),
    );
    const { joint } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'] });
    const feeds = {
      x: floats([5, 6], [2, 1]),
      index: integers([1, 1, 0, 1], [2, 2]),
      inverse: integers([2, 0], [2]),
      'd(y)': floats([1, 10, 100, 1000], [2, 2, 1]),
    };
    expect(await runGraph(joint, feeds)).toEqual({ y: [6, 6, 5, 6], 'd(x)': [100, 1] });
  });

  test('gradients of all positions in the inverse of permuteRows are added up', async () => {
    const y = permuteRows(
      input('x', [2, 1]),
      input('index', [4], 'int32'),
      input('inverse', ['K', 2], 'int32'),
    );
    const { joint } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'] });
    const feeds = {
      x: floats([5, 6], [2, 1]),
      index: integers([1, 0, 1, 0], [4]),
      // Position 3 is padding without a gradient: the first row occurs only once.
      inverse: integers([1, 0, 3, 2], [2, 2]),
      'd(y)': floats([1, 10, 100, 0], [4, 1]),
    };
    expect(await runGraph(joint, feeds)).toEqual({ y: [6, 5, 6, 5], 'd(x)': [10, 101] });
  });

  test('equal largest elements share the gradient', async () => {
    const graph = makeGraph({ y: maxOf(input('x', [2, 3]), [1]) });
    const { joint } = grad(graph, { of: ['y'], wrt: ['x'] });
    const feeds = { x: floats([1, 4, 4, 2, 2, 2], [2, 3]), 'd(y)': floats([8, 9], [2, 1]) };
    expect(await runGraph(joint, feeds)).toEqual({ y: [4, 2], 'd(x)': [0, 4, 4, 3, 3, 3] });
  });
});

describe('cotangents', () => {
  test('an output of one element has the cotangent 1', async () => {
    const v = input('v', [2]);
    for (const y of [sum(mul(v, v)), reshape(sum(mul(v, v)), [])]) {
      const { backward } = grad(makeGraph({ y }), { of: ['y'], wrt: ['v'] });
      expect(Object.keys(backward.inputs)).toEqual(['v']);
      expect(await runGraph(backward, { v: floats([3, 4], [2]) })).toEqual({ 'd(v)': [6, 8] });
    }
  });

  test('the cotangent of a larger output is fed, for any symbolic size', async () => {
    const graph = makeGraph({ y: mul(input('v', ['M']), 2) });
    const { backward } = grad(graph, { of: ['y'], wrt: ['v'] });
    expect(typesOf(backward.inputs)).toEqual({ 'd(y)': 'float32[M]' });
    expect(await runGraph(backward, { 'd(y)': floats([3], [1]) })).toEqual({ 'd(v)': [6] });
  });

  test('the gradient of an input that is an output is its cotangent', async () => {
    const graph = makeGraph({ v: input('v', [2]) });
    const { joint } = grad(graph, { of: ['v'], wrt: ['v'] });
    const feeds = { v: floats([1, 2], [2]), 'd(v)': floats([3, 4], [2]) };
    expect(await runGraph(joint, feeds)).toEqual({ v: [1, 2], 'd(v)': [3, 4] });
  });
});

describe('frozen inputs', () => {
  const lora = { a: input('a', [2, 4]), b: input('b', [3, 2]), scaling: 2 };
  const graph = makeGraph({ y: loraLinear(input('x', ['M', 4]), input('w', [3, 4]), lora) });

  test('adapters alone need three products, none with the frozen weight', () => {
    const { backward } = grad(graph, { of: ['y'], wrt: ['a', 'b'] });
    expect(print(backward)).toBe(
      [
        'graph(d(y): float32[M,3], b: float32[3,2], x: float32[M,4], saved(0): float32[M,2])',
        '  %0 = matmul(d(y), b) {alpha: 2} : float32[M,2]',
        '  %1 = matmul(%0, x) {transA: true} : float32[2,4]',
        '  %2 = matmul(d(y), saved(0)) {transA: true, alpha: 2} : float32[3,2]',
        '  return d(a) = %1, d(b) = %2',
      ].join('\n'),
    );
  });

  test('the gradient of the rows needs two more, none with the weight’s shape', () => {
    const { backward } = grad(graph, { of: ['y'], wrt: ['x', 'a', 'b'] });
    expect(countOps(backward, 'matmul')).toBe(5);
    expect(print(backward)).not.toContain(': float32[3,4]\n');
  });

  test('a trained weight has its own product', () => {
    const { backward } = grad(graph, { of: ['y'], wrt: ['x', 'a', 'b', 'w'] });
    expect(countOps(backward, 'matmul')).toBe(6);
    expect(print(backward)).toContain('matmul(d(y), x) {transA: true} : float32[3,4]\n');
  });
});

describe('rejections', () => {
  const x = input('x', ['M']);
  const index = input('index', ['M'], 'int32');
  const graph = makeGraph({ y: mul(x, 2), z: gatherRows(x, index), flag: equal(x, 0) });

  test.each<[string, GradOptions, string]>([
    [
      'an unknown output',
      { of: ['loss'], wrt: ['x'] },
      'Cannot differentiate: of "loss" must be a float32 value of the graph; the graph has y, z, flag',
    ],
    [
      'an unknown input',
      { of: ['y'], wrt: ['w'] },
      'Cannot differentiate: wrt "w" must be a float32 value of the graph; the graph has x, index',
    ],
    [
      'an int32 input',
      { of: ['z'], wrt: ['index'] },
      'Cannot differentiate: wrt "index" must be a float32 value of the graph; int32[M]',
    ],
    [
      'a bool output',
      { of: ['flag'], wrt: ['x'] },
      'Cannot differentiate: of "flag" must be a float32 value of the graph; bool[M]',
    ],
  ])('%s', (_, options, message) => {
    expect(() => grad(graph, options)).toThrow(new Error(message));
  });

  test('an input without a path to the outputs', () => {
    const other = makeGraph({ y: exp(x), loss: sum(x), w: neg(input('w', [2])) });
    expect(() => grad(other, { of: ['y', 'loss'], wrt: ['x', 'w'] })).toThrow(
      new Error('Cannot differentiate y, loss with respect to "w": no gradient flows to it'),
    );
  });

  test.each([
    ['sign', sign(x)],
    ['a condition', where(equal(x, 0), 1, 2)],
    [
      'the tables of rope',
      rope(input('r', ['M', 1, 2]), reshape(x, ['M', 1]), reshape(x, ['M', 1])),
    ],
  ])('an input that only %s reads', (_, y) => {
    expect(() => grad(makeGraph({ y }), { of: ['y'], wrt: ['x'] })).toThrow(
      new Error('Cannot differentiate y with respect to "x": no gradient flows to it'),
    );
  });
});

describe('cotangents of adjacent slices', () => {
  const x = input('x', ['M', 6]);
  const [a, b, c] = split(x, [1, 2, 3]) as [Value, Value, Value];

  test('are joined by one concat, without padding or adding', async () => {
    const y = concat([mul(c, 3), mul(a, 5), mul(b, 2)]);
    const { backward } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'], save: 'none' });
    expect(['concat', 'pad', 'add'].map((op) => countOps(backward, op))).toEqual([1, 0, 0]);
    const gradients = await runGraph(backward, { 'd(y)': floats([1, 1, 1, 1, 1, 1], [1, 6]) });
    expect(gradients).toEqual({ 'd(x)': [5, 2, 2, 3, 3, 3] });
  });

  test('that leave a gap or overlap are padded and added', async () => {
    const overlap = slice(x, { start: 2, end: 5 });
    const graph = makeGraph({ y: add(sum(mul(a, 5)), sum(mul(overlap, 2))), z: sum(c) });
    const { joint } = grad(graph, { of: ['y', 'z'], wrt: ['x'] });
    const result = await runGraph(joint, { x: floats([1, 1, 1, 1, 1, 1], [1, 6]) });
    expect(result['d(x)']).toEqual([5, 0, 2, 3, 3, 1]);
  });
});
