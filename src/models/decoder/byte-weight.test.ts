import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWeight, bestScale, blockWidths } from './byte-weight.ts';

const quantize = (weight: readonly number[], sizes: { out: number; inner: number }) =>
  new ByteWeight(Float32Array.from(weight), sizes);

describe('ByteWeight', () => {
  test("rounds to multiples of 1/127 of an output's largest magnitude", () => {
    const { blocks } = quantize([127, -127, 0.4, 0.6, -0.6, 2.5, -100], { out: 1, inner: 7 });
    expect([...blocks[0]!.scales.data]).toEqual([1]);
    expect([...blocks[0]!.bytes.data]).toEqual([127, -127, 0, 1, -1, 3, -100]);
  });

  test('has one scale per output and stores inputs first', () => {
    const { blocks } = quantize([127, 254, 63.5, -2, 0, 1], { out: 3, inner: 2 });
    expect([...blocks[0]!.scales.data]).toEqual([2, 0.5, Math.fround(1 / 127)]);
    expect([...blocks[0]!.bytes.data]).toEqual([64, 127, 0, 127, -4, 127]);
  });

  test('accepts a weight that stores inputs first', () => {
    const rows = Float32Array.of(1, 2, 3, 4, 5, 6);
    const columns = Float32Array.of(1, 4, 2, 5, 3, 6);
    const sizes = { out: 2, inner: 3 };
    const transposed = new ByteWeight(columns, { ...sizes, transposed: true });
    expect(transposed.blocks).toEqual(new ByteWeight(rows, sizes).blocks);
    expect(transposed.dequantize({ transposed: true })[1]).toBeCloseTo(4, 1);
    expect(transposed.dequantize()[1]).toBeCloseTo(2, 1);
  });

  test('keeps zeros as zeros', () => {
    const weight = quantize([0, 0, 0, 127], { out: 2, inner: 2 });
    expect([...weight.blocks[0]!.scales.data]).toEqual([0, 1]);
    expect([...weight.dequantize()]).toEqual([0, 0, 0, 127]);
  });

  test('has the same values in blocks of outputs', () => {
    const weight = Float32Array.from({ length: 30 }, (_, i) => Math.sin(i));
    const whole = new ByteWeight(weight, { out: 10, inner: 3 });
    const blocks = new ByteWeight(weight, { out: 10, inner: 3, blockSize: 4 });
    expect(blocks.blocks.map(({ bytes }) => bytes.shape)).toEqual([
      [3, 4],
      [3, 4],
      [3, 2],
    ]);
    expect(blocks.dequantize()).toEqual(whole.dequantize());
    expect([...blocks.rows([9, 4])]).toEqual([
      ...whole.dequantize().subarray(27),
      ...whole.dequantize().subarray(12, 15),
    ]);
  });

  test('has an error of at most half a scale, unless a weight is clipped', () => {
    const number = fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 20 }))
      .chain(([out, inner]) =>
        fc.record({
          sizes: fc.record({ out: fc.constant(out), inner: fc.constant(inner) }),
          numbers: fc.array(number, { minLength: out * inner, maxLength: out * inner }),
          power: fc.integer({ min: -60, max: 10 }),
        }),
      );
    fc.assert(
      fc.property(matrix, ({ sizes, numbers, power }) => {
        // Each is exact in float32; so few weights are never clipped.
        const weight = numbers.map((n) => n * 2 ** power);
        const quantized = quantize(weight, sizes);
        const [{ scales }] = quantized.blocks as [(typeof quantized.blocks)[0]];
        const excess = [...quantized.dequantize()].map(
          (value, at) =>
            Math.abs(value - weight[at]!) - scales.data[Math.floor(at / sizes.inner)]! / 2,
        );
        const largest = Math.max(...weight.map(Math.abs));
        // The scale itself is rounded to float32.
        expect(Math.max(...excess)).toBeLessThanOrEqual(largest * 2 ** -23);
      }),
    );
  });

  test('rejects numbers that are not finite', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => quantize([1, wrong], { out: 1, inner: 2 })).toThrow(
        'weights must be finite numbers, got NaN or infinity',
      );
    }
  });
});

describe('bestScale()', () => {
  const all = (weights: Float32Array) =>
    bestScale(weights, { start: 0, step: 1, count: weights.length });

  test('clips a rare large weight if that lowers the squared error', () => {
    const weights = new Float32Array(100_000);
    weights.set([1, -0.2]);
    // c = 0.7: 1e5·(0.7/127)²/12 + 0.3² = 0.343; c = 0.8: 0.331 + 0.04 = 0.371; c = 1: 0.517
    expect(127 * all(weights)).toBeCloseTo(0.7, 5);
  });

  test('has the least squared error of all clips, measured on the rounded weights', () => {
    const weights = Float32Array.from({ length: 20_000 }, (_, i) => Math.sin(i * i) ** 31);
    const errorAt = (scale: number) =>
      weights.reduce((sum, w) => {
        const byte = Math.max(-127, Math.min(127, Math.round(w / scale)));
        return sum + (byte * scale - w) ** 2;
      }, 0);
    const best = errorAt(all(weights));
    for (const clip of [1, 0.95, 0.9, 0.8, 0.6]) {
      expect(best).toBeLessThanOrEqual(errorAt(clip / 127) * 1.02);
    }
  });
});

test('blockWidths() leaves the rest to the last block', () => {
  expect(blockWidths(10, 4)).toEqual([4, 4, 2]);
  expect(blockWidths(10)).toEqual([10]);
});
