import { test } from 'vitest';
import { floats, runGraph } from '../../../../test/helpers/engine/run-graph.ts';
import {
  float32,
  int32,
  testRefusals,
  uint8,
} from '../../../../test/helpers/engine/test-refusals.ts';
import { expectClose } from '../../../../test/helpers/expect-close.ts';
import { makeGraph } from '../graph.ts';
import { quantizedMatmul } from './quantized.ts';
import { constant, input } from './source.ts';

testRefusals('quantizedMatmul refuses', [
  [
    'quantised weights of another layout',
    () => quantizedMatmul(float32(['M', 64]), uint8([5, 64]), float32([5, 2])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,2,32] and scales float32[out,2], got float32[M,64] and uint8[5,64] and float32[5,2]',
    ),
  ],
  [
    'quantised weights whose scales are too few',
    () => quantizedMatmul(float32(['M', 64]), uint8([5, 2, 32]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,2,32] and scales float32[out,2], got float32[M,64] and uint8[5,2,32] and float32[5,1]',
    ),
  ],
  [
    'quantised weights of another dtype',
    () => quantizedMatmul(float32(['M', 32]), float32([5, 1, 32]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,1,32] and scales float32[out,1], got float32[M,32] and float32[5,1,32] and float32[5,1]',
    ),
  ],
  [
    'rows of integers beside quantised weights',
    () => quantizedMatmul(int32(['M', 32]), uint8([5, 1, 32]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: inputs must be float32, got int32[M,32] and float32[5,1]',
    ),
  ],
]);

test('x·Wᵀ with W = (q − 128)·scale, a scale for each 32 weights of a row', async () => {
  // Rows of whole numbers up to 127: the kernel's own 8-bit rows hold them exactly.
  const x = Array.from({ length: 64 }, (_, k) => (k % 32 === 0 ? 127 : (k % 5) - 2));
  const q = Array.from({ length: 128 }, (_, k) => 128 + ((k * 7) % 11) - 5);
  const scales = [0.5, 2, -1, 0.25];
  const expected = [0, 1].map((row) =>
    x.reduce((sum, value, k) => {
      const scale = scales[2 * row + Math.floor(k / 32)] as number;
      return sum + value * ((q[64 * row + k] as number) - 128) * scale;
    }, 0),
  );
  const weight = constant(Uint8Array.from(q), { dtype: 'uint8', shape: [2, 2, 32] });
  const scale = constant(Float32Array.from(scales), { shape: [2, 2] });
  const graph = makeGraph({ y: quantizedMatmul(input('x', ['M', 64]), weight, scale) });
  const { y } = await runGraph(graph, { x: floats(x, [1, 64]) });
  expectClose(y!, { expected, within: 1e-5, label: 'y' });
});
