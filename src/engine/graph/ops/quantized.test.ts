import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { floats, runGraph } from '../../../../test/helpers/engine/run-graph.ts';
import {
  float32,
  int8,
  int32,
  testRejections,
} from '../../../../test/helpers/engine/test-rejections.ts';
import { expectClose } from '../../../../test/helpers/expect-close.ts';
import { grad, gradientName } from '../grad.ts';
import { makeGraph } from '../graph.ts';
import { type ByteFormat, byteProduct } from './quantized.ts';
import { constant, input } from './source.ts';

const exact: ByteFormat = { rows: 'two-byte', maxByte: 63 };
const rule = 'x must be float32[M,in], weights int8[in,out] and scales float32[out]';

testRejections('byteProduct rejects', [
  [
    'weights in the wrong layout',
    () => byteProduct(float32(['M', 4]), { weight: int8([5, 4]), scales: float32([5]) }, exact),
    new TypeError(
      `Cannot apply byteProduct: ${rule}, got float32[M,4] and int8[5,4] and float32[5]`,
    ),
  ],
  [
    'too few scales',
    () => byteProduct(float32(['M', 4]), { weight: int8([4, 5]), scales: float32([1]) }, exact),
    new TypeError(
      `Cannot apply byteProduct: ${rule}, got float32[M,4] and int8[4,5] and float32[1]`,
    ),
  ],
  [
    'rows that are not float32',
    () => byteProduct(int32(['M', 4]), { weight: int8([4, 5]) }, exact),
    new TypeError(`Cannot apply byteProduct: ${rule}, got int32[M,4] and int8[4,5]`),
  ],
  [
    'more than two axes',
    () => byteProduct(float32(['B', 'M', 4]), { weight: int8([4, 5]) }, exact),
    new TypeError(`Cannot apply byteProduct: ${rule}, got float32[B,M,4] and int8[4,5]`),
  ],
]);

/** x·W for x [rows, 3] and W [3, 2] = [[1, 2], [−3, 4], [5, −6]] with scales ½ and 2, and ∂Σ(y·dy)/∂x. */
async function multiply(
  rows: readonly (readonly number[])[],
  format: ByteFormat,
  dy = rows.map(() => [1, 1]),
) {
  const weight = constant(Int8Array.of(1, 2, -3, 4, 5, -6), { dtype: 'int8', shape: [3, 2] });
  const scales = constant(Float32Array.of(0.5, 2), { shape: [2] });
  const y = byteProduct(input('x', ['M', 3]), { weight, scales }, format);
  const { joint } = grad(makeGraph({ y }), { of: ['y'], wrt: ['x'] });
  const results = await runGraph(joint, {
    x: floats(rows.flat(), [rows.length, 3]),
    [gradientName('y')]: floats(dy.flat(), [rows.length, 2]),
  });
  return { y: results.y!, dx: results[gradientName('x')]! };
}

describe.each<ByteFormat>([
  { rows: 'one-byte', maxByte: 63 },
  { rows: 'two-byte', maxByte: 63 },
  { rows: 'two-byte', maxByte: 127 },
  { rows: 'float32', maxByte: 63 },
])('x·W with $rows rows up to $maxByte', (format) => {
  const { maxByte } = format;

  test('is exact for whole numbers up to the largest byte', async () => {
    const { y, dx } = await multiply([[maxByte, 2, -1]], format, [[2, 0.5]]);
    // (63 − 6 − 5)/2 and 2·(126 + 8 + 6) for 63
    const expected = [(maxByte - 11) / 2, 2 * (2 * maxByte + 14)];
    expectClose(y, { expected, within: 1e-4, label: 'y' });
    // dy·scales = [1, 1]: sums of the rows of W
    expectClose(dx, { expected: [3, 1, -1], within: 1e-6, label: 'dx' });
  });

  test('gives each row its own scale, so other rows do not change it', async () => {
    const row = [0.3, -0.7, 0.2];
    const { y: alone } = await multiply([row], format);
    const { y: among } = await multiply([[1000, 0, 0], row, [0, 0, 0]], format);
    expect(among.slice(2, 4)).toEqual(alone);
    expect(among.slice(4).map(Math.abs)).toEqual([0, 0]);
  });
});

test('one byte rounds a row to multiples of 1/63 of its largest magnitude', async () => {
  const { y } = await multiply([[0.3, -0.7, 0.2]], { rows: 'one-byte', maxByte: 63 });
  // round(0.3·63/0.7) = 27, −63, 18: (27 + 189 + 90)/2 and 2·(54 − 252 − 108), times 0.7/63
  const expected = [153, -612].map((sum) => (sum * 0.7) / 63);
  expectClose(y, { expected, within: 1e-6, label: 'y' });
});

describe('two bytes', () => {
  const matrix = fc.integer({ min: 1, max: 40 }).chain((inner) =>
    fc.record({
      row: fc.array(fc.double({ min: -100, max: 100, noNaN: true }), {
        minLength: inner,
        maxLength: inner,
      }),
      weight: fc.array(fc.integer({ min: -127, max: 127 }), {
        minLength: inner,
        maxLength: inner,
      }),
    }),
  );

  test('leave an error of at most half a step of the low byte per weight', async () => {
    await fc.assert(
      fc.asyncProperty(matrix, async ({ row, weight }) => {
        const inner = row.length;
        const bytes = constant(Int8Array.from(weight), { dtype: 'int8', shape: [inner, 1] });
        const y = byteProduct(input('x', ['M', inner]), { weight: bytes }, exact);
        const x = floats(row, [1, inner]);
        const result = (await runGraph(makeGraph({ y }), { x })).y![0]!;
        const rounded = Float32Array.from(row);
        const expected = rounded.reduce((sum, value, i) => sum + value * weight[i]!, 0);
        const step = Math.max(...rounded.map(Math.abs)) / 63 / 126;
        const weightSum = weight.reduce((sum, value) => sum + Math.abs(value), 0);
        // Half a step, and the rounding of float32 sums.
        const bound = weightSum * (step / 2 + 100 * 2 ** -22);
        expect(Math.abs(result - expected)).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 50 },
    );
  });
});
