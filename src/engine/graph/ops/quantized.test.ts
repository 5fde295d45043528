import { expect, test } from 'vitest';
import { floats, runGraph } from '../../../../test/helpers/engine/run-graph.ts';
import {
  float32,
  int32,
  of,
  testRejections,
  uint8,
} from '../../../../test/helpers/engine/test-rejections.ts';
import { expectClose } from '../../../../test/helpers/expect-close.ts';
import { makeGraph } from '../graph.ts';
import { byteMatmul, toBytes } from './quantized.ts';
import { constant, input } from './source.ts';

const int8 = of('int8');
const scale = float32(['M', 1]);

testRejections('byteMatmul rejects', [
  [
    'weights in the wrong layout',
    () => byteMatmul({ bytes: uint8(['M', 4]), scale }, int8([5, 4]), float32([5])),
    new TypeError(
      'Cannot apply byteMatmul: rows must be uint8[M,in], weights int8[in,out] and scales float32[out], got uint8[M,4] and int8[5,4] and float32[5]',
    ),
  ],
  [
    'too few scales',
    () => byteMatmul({ bytes: uint8(['M', 4]), scale }, int8([4, 5]), float32([1])),
    new TypeError(
      'Cannot apply byteMatmul: rows must be uint8[M,in], weights int8[in,out] and scales float32[out], got uint8[M,4] and int8[4,5] and float32[1]',
    ),
  ],
  [
    'float rows',
    () => byteMatmul({ bytes: float32(['M', 4]), scale }, int8([4, 5]), float32([5])),
    new TypeError(
      'Cannot apply byteMatmul: rows must be uint8[M,in], weights int8[in,out] and scales float32[out], got float32[M,4] and int8[4,5] and float32[5]',
    ),
  ],
]);

testRejections('toBytes rejects', [
  [
    'integer rows',
    () => toBytes(int32(['M', 4])).bytes,
    new TypeError('Cannot apply abs: inputs must be float32, got int32[M,4]'),
  ],
  [
    'more than two axes',
    () => toBytes(float32(['B', 'M', 4])).bytes,
    new TypeError(
      'Cannot apply toBytes: rows must be a matrix with one scale per row, got float32[B,M,4] and float32[B,M,1]',
    ),
  ],
]);

/** x·W by bytes, for x [rows, 3] and W [3, 2] = [[1, 2], [−3, 4], [5, −6]] with scales ½ and 2. */
function multiply(rows: readonly (readonly number[])[]) {
  const weight = constant(Int8Array.of(1, 2, -3, 4, 5, -6), { dtype: 'int8', shape: [3, 2] });
  const scales = constant(Float32Array.of(0.5, 2), { shape: [2] });
  const graph = makeGraph({ y: byteMatmul(toBytes(input('x', ['M', 3])), weight, scales) });
  return runGraph(graph, { x: floats(rows.flat(), [rows.length, 3]) });
}

test('x·W is exact for whole numbers up to 127', async () => {
  const { y } = await multiply([[127, 2, -1]]);
  // (127 − 6 − 5)/2 and 2·(254 + 8 + 6)
  expectClose(y!, { expected: [58, 536], within: 1e-6, label: 'y' });
});

test('each row has its own scale, so other rows do not change it', async () => {
  const row = [0.3, -0.7, 0.2];
  const { y: alone } = await multiply([row]);
  const { y: among } = await multiply([[1000, 0, 0], row, [0, 0, 0]]);
  expect(among!.slice(2, 4)).toEqual(alone);
  expect(among!.slice(4).map(Math.abs)).toEqual([0, 0]);
  // round(0.3·127/0.7) = 54, −127, 36: (54 + 381 + 180)/2 and 2·(108 − 508 − 216), times 0.7/127
  const expected = [307.5, -1232].map((sum) => (sum * 0.7) / 127);
  expectClose(alone!, { expected, within: 1e-6, label: 'y' });
});
