import { describe, expect, test } from 'vitest';
import { LORA_MLP_WRT, makeLoraMlp } from '../../../test/helpers/engine/lora-mlp.ts';
import { grad } from './grad.ts';
import { makeGraph } from './graph.ts';
import { add, cast, clip, mul } from './ops/elementwise.ts';
import { reshape, slice, transpose } from './ops/layout.ts';
import { matmul } from './ops/matmul.ts';
import { sum } from './ops/reduce.ts';
import { constant, input } from './ops/source.ts';
import { nameValues, print } from './print.ts';
import type { Value } from './value.ts';

const FIXTURES = '../../../test/fixtures/engine';
const x = input('x', ['M', 4]);

/** The lines between the inputs and the outputs. */
function printBody(...values: Value[]): string[] {
  const outputs = Object.fromEntries(values.map((value, i) => [`y${i}`, value]));
  return print(makeGraph(outputs))
    .split('\n')
    .slice(1, -1)
    .map((line) => line.trim());
}

describe('print()', () => {
  test('prints inputs, one op per line, and outputs', () => {
    const y = matmul(x, input('w', [2, 4]), { transB: true });
    expect(print(makeGraph({ y, total: sum(y) }))).toBe(
      [
        'graph(x: float32[M,4], w: float32[2,4])',
        '  %0 = matmul(x, w) {transB: true} : float32[M,2]',
        '  %1 = sum(%0) {axes: [0,1]} : float32[1,1]',
        '  return y = %0, total = %1',
      ].join('\n'),
    );
  });

  test('omits attributes with their defaults', () => {
    const w = input('w', [4, 2]);
    expect(printBody(matmul(x, w), matmul(x, w, { alpha: 0.5 }))).toEqual([
      '%0 = matmul(x, w) : float32[M,2]',
      '%1 = matmul(x, w) {alpha: 0.5} : float32[M,2]',
    ]);
  });

  test('prints sizes, axes, dtypes and numbers', () => {
    expect(
      printBody(
        reshape(x, ['2*M', 2]),
        transpose(x, [1, 0]),
        slice(x, { axis: 0, start: 1, end: 'M' }),
        clip(x, 0, Number.POSITIVE_INFINITY),
        cast(x, 'int32'),
      ),
    ).toEqual([
      '%0 = reshape(x) {shape: [2*M,2]} : float32[2*M,2]',
      '%1 = transpose(x) {permutation: [1,0]} : float32[4,M]',
      '%2 = slice(x) {axis: 0, start: 1, end: M} : float32[M-1,4]',
      '%3 = clip(x) {min: 0, max: Infinity} : float32[M,4]',
      '%4 = cast(x) {to: int32} : int32[M,4]',
    ]);
  });

  test('a scalar constant is printed inline, others on a line without data', () => {
    const table = constant(Float32Array.of(1, 2, 3, 4), { shape: [4] });
    expect(printBody(add(mul(x, 0.5), table))).toEqual([
      '%0 = mul(x, 0.5) : float32[M,4]',
      '%1 = constant() : float32[4]',
      '%2 = add(%0, %1) : float32[M,4]',
    ]);
  });

  test('an output that is an input or a scalar has its name', () => {
    expect(print(makeGraph({ x, two: constant(2) }))).toBe(
      'graph(x: float32[M,4])\n  return x = x, two = 2',
    );
  });

  test('values of a printed graph have names', () => {
    const y = add(mul(x, x), 1);
    const names = nameValues(makeGraph({ y }));
    expect(names.get(y)).toBe('%1');
    expect(names.get(y.inputs[0] as Value)).toBe('%0');
    expect(names.get(x)).toBe('x');
    expect(names.get(y.inputs[1] as Value)).toBe('1');
  });
});

describe('gradient graphs of an MLP with adapters', () => {
  const graphs = grad(makeLoraMlp(), { of: ['y'], wrt: LORA_MLP_WRT, save: 'matmul' });

  test('the joint graph is unchanged', async () => {
    await expect(`${print(graphs.joint)}\n`).toMatchFileSnapshot(`${FIXTURES}/lora-mlp-joint.txt`);
  });

  test('the backward graph is unchanged', async () => {
    await expect(`${print(graphs.backward)}\n`).toMatchFileSnapshot(
      `${FIXTURES}/lora-mlp-backward.txt`,
    );
  });
});
