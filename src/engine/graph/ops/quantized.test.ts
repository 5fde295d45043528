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
    () => quantizedMatmul(float32(['M', 256]), uint8([5, 256]), float32([5, 2])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,2,128] and scales float32[out,2], got float32[M,256] and uint8[5,256] and float32[5,2]',
    ),
  ],
  [
    'quantised weights whose scales are too few',
    () => quantizedMatmul(float32(['M', 256]), uint8([5, 2, 128]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,2,128] and scales float32[out,2], got float32[M,256] and uint8[5,2,128] and float32[5,1]',
    ),
  ],
  [
    'quantised weights of another dtype',
    () => quantizedMatmul(float32(['M', 128]), float32([5, 1, 128]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: weights must be uint8[out,1,128] and scales float32[out,1], got float32[M,128] and float32[5,1,128] and float32[5,1]',
    ),
  ],
  [
    'rows of integers beside quantised weights',
    () => quantizedMatmul(int32(['M', 128]), uint8([5, 1, 128]), float32([5, 1])),
    new TypeError(
      'Cannot apply quantizedMatmul: inputs must be float32, got int32[M,128] and float32[5,1]',
    ),
  ],
]);

test('x·Wᵀ with W = (q − 128)·scale, a scale for each 128 weights of a row', async () => {
  // Rows of whole numbers up to 127: the kernel's own 8-bit rows hold them exactly.
  const x = Array.from({ length: 256 }, (_, k) => (k % 128 === 0 ? 127 : (k % 5) - 2));
  const q = Array.from({ length: 512 }, (_, k) => 128 + ((k * 7) % 11) - 5);
  const scales = [0.5, 2, -1, 0.25];
  const expected = [0, 1].map((row) =>
    x.reduce((sum, value, k) => {
      const scale = scales[2 * row + Math.floor(k / 128)] as number;
      return sum + value * ((q[256 * row + k] as number) - 128) * scale;
    }, 0),
  );
  const weight = constant(Uint8Array.from(q), { dtype: 'uint8', shape: [2, 2, 128] });
  const scale = constant(Float32Array.from(scales), { shape: [2, 2] });
  const graph = makeGraph({ y: quantizedMatmul(input('x', ['M', 256]), weight, scale) });
  const { y } = await runGraph(graph, { x: floats(x, [1, 256]) });
  expectClose(y!, { expected, within: 1e-5, label: 'y' });
});
