import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteMatmul, constant, input, makeGraph, toBytes } from '../engine/graph/index.ts';
import { compile, tensor } from '../engine/runtime/index.ts';
import { largestByte, type QuantizeOptions, quantize } from './decode-weights.ts';

/** Dequantizes a quantized weight, [out, in]. */
function dequantize(weight: readonly number[], options: QuantizeOptions) {
  const { bytes, scales } = quantize(Float32Array.from(weight), options);
  const { out, inner } = options;
  return Array.from({ length: out * inner }, (_, index) => {
    const [o, i] = [Math.floor(index / inner), index % inner];
    const scale = scales[o]!;
    return { scale, value: bytes[i * out + o]! * scale };
  });
}

describe('quantize()', () => {
  test("rounds to multiples of 1/127 of an output's largest magnitude", () => {
    const weight = [127, -127, 0.4, 0.6, -0.6, 2.5, -100];
    const { bytes, scales } = quantize(Float32Array.from(weight), { out: 1, inner: 7 });
    expect([...scales]).toEqual([1]);
    expect([...bytes]).toEqual([127, -127, 0, 1, -1, 3, -100]);
  });

  test('has one scale per output and stores inputs first', () => {
    const weight = Float32Array.of(127, 254, 63.5, -2, 0, 1);
    const { bytes, scales } = quantize(weight, { out: 3, inner: 2 });
    expect([...scales]).toEqual([2, 0.5, Math.fround(1 / 127)]);
    expect([...bytes]).toEqual([64, 127, 0, 127, -4, 127]);
  });

  test('accepts a weight that stores inputs first', () => {
    const rows = Float32Array.of(1, 2, 3, 4, 5, 6);
    const columns = Float32Array.of(1, 4, 2, 5, 3, 6);
    const sizes = { out: 2, inner: 3 };
    expect(quantize(columns, { ...sizes, transposed: true })).toEqual(quantize(rows, sizes));
  });

  test('keeps zeros as zeros', () => {
    const { bytes, scales } = quantize(Float32Array.of(0, 0, 0, 127), { out: 2, inner: 2 });
    expect([...scales]).toEqual([0, 1]);
    expect([...bytes]).toEqual([0, 0, 0, 127]);
  });

  test('uses bytes up to maxByte', () => {
    const { bytes } = quantize(Float32Array.of(1, -1, 0.6), { out: 1, inner: 3, maxByte: 63 });
    expect([...bytes]).toEqual([63, -63, 38]);
  });

  test('has an error of at most half a scale', () => {
    const number = fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 20 }))
      .chain(([out, inner]) =>
        fc.record({
          sizes: fc.record({
            out: fc.constant(out),
            inner: fc.constant(inner),
            maxByte: fc.constantFrom(63, 127),
          }),
          numbers: fc.array(number, { minLength: out * inner, maxLength: out * inner }),
          power: fc.integer({ min: -60, max: 10 }),
        }),
      );
    fc.assert(
      fc.property(matrix, ({ sizes, numbers, power }) => {
        // Each is exact in float32.
        const weight = numbers.map((number) => number * 2 ** power);
        const excess = dequantize(weight, sizes).map(
          ({ value, scale }, index) => Math.abs(value - weight[index]!) - scale / 2,
        );
        const largest = Math.max(...weight.map(Math.abs));
        // The scale itself is rounded to float32.
        expect(Math.max(...excess)).toBeLessThanOrEqual(largest * 2 ** -23);
      }),
    );
  });
});

test('products of bytes up to largestByte() are exact for one row and for many', async () => {
  const maxByte = await largestByte();
  const size = 96;
  const weight = constant(new Int8Array(size).fill(maxByte), { dtype: 'int8', shape: [size, 1] });
  const rows = toBytes(input('x', ['M', size]));
  const y = byteMatmul(rows, weight, constant(1, { shape: [1] }));
  const graph = await compile(makeGraph({ y }));
  for (const count of [1, 2, 3, 16, 40]) {
    const x = tensor(new Float32Array(count * size).fill(127), [count, size]);
    const product = (await graph.run({ x })).y!;
    expect([...product.data]).toEqual(Array(count).fill(size * 127 * maxByte));
  }
  await graph.dispose();
});
