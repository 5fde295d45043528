import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type QuantizeOptions, quantize } from './quantize.ts';

/** What a quantised weight stands for, at [out, in]. */
function restore(weight: readonly number[], options: QuantizeOptions) {
  const { bytes, scales } = quantize(Float32Array.from(weight), options);
  const { out, inner } = options;
  return Array.from({ length: out * inner }, (_, place) => {
    const [o, i] = [Math.floor(place / inner), place % inner];
    const scale = scales[o]!;
    return { scale, value: bytes[i * out + o]! * scale };
  });
}

describe('quantize()', () => {
  test('rounds by 1/127 of the largest magnitude that leads to an output', () => {
    const weight = [127, -127, 0.4, 0.6, -0.6, 2.5, -100];
    const { bytes, scales } = quantize(Float32Array.from(weight), { out: 1, inner: 7 });
    expect([...scales]).toEqual([1]);
    expect([...bytes]).toEqual([127, -127, 0, 1, -1, 3, -100]);
  });

  test('gives each output a scale, and puts inputs first', () => {
    const weight = Float32Array.of(127, 254, 63.5, -2, 0, 1);
    const { bytes, scales } = quantize(weight, { out: 3, inner: 2 });
    expect([...scales]).toEqual([2, 0.5, Math.fround(1 / 127)]);
    expect([...bytes]).toEqual([64, 127, 0, 127, -4, 127]);
  });

  test('takes a weight that has inputs first as it is', () => {
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

  test('uses no larger byte than it may', () => {
    const { bytes } = quantize(Float32Array.of(1, -1, 0.6), { out: 1, inner: 3, most: 63 });
    expect([...bytes]).toEqual([63, -63, 38]);
  });

  test('is off by half a scale at most', () => {
    const number = fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 20 }))
      .chain(([out, inner]) =>
        fc.record({
          sizes: fc.record({
            out: fc.constant(out),
            inner: fc.constant(inner),
            most: fc.constantFrom(63, 127),
          }),
          numbers: fc.array(number, { minLength: out * inner, maxLength: out * inner }),
          power: fc.integer({ min: -60, max: 10 }),
        }),
      );
    fc.assert(
      fc.property(matrix, ({ sizes, numbers, power }) => {
        // Each is a float32 as it is.
        const weight = numbers.map((number) => number * 2 ** power);
        const excess = restore(weight, sizes).map(
          ({ value, scale }, place) => Math.abs(value - weight[place]!) - scale / 2,
        );
        const largest = Math.max(...weight.map(Math.abs));
        // The scale itself is rounded to float32.
        expect(Math.max(...excess)).toBeLessThanOrEqual(largest * 2 ** -23);
      }),
    );
  });
});
