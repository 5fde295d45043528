import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quantize, transpose } from './quantize.ts';

/** A row with these numbers first and zeros after them. */
function row(length: number, ...first: number[]): number[] {
  return [...first, ...Array<number>(length - first.length).fill(0)];
}

/** What a quantised weight stands for, at [out, in]. */
function restore(weight: readonly number[], [out, inner]: readonly [number, number]) {
  const { bytes, scales } = quantize(Float32Array.from(weight), [out, inner]);
  const blocks = Math.ceil(inner / 128);
  return weight.map((_, place) => {
    const [o, i] = [Math.floor(place / inner), place % inner];
    const block = o * blocks + Math.floor(i / 128);
    const scale = scales[block] ?? Number.NaN;
    return { scale, value: ((bytes[block * 128 + (i % 128)] ?? Number.NaN) - 128) * scale };
  });
}

describe('quantize()', () => {
  test('rounds by 1/127 of the largest magnitude of the block', () => {
    const weight = row(128, 127, -127, 0.4, 0.6, -0.6, 2.5, -100);
    const { bytes, scales } = quantize(Float32Array.from(weight), [1, 128]);
    expect([...scales]).toEqual([1]);
    expect([...bytes]).toEqual([255, 1, 128, 129, 127, 131, 28, ...Array(121).fill(128)]);
  });

  test('gives 128 neighbours of a row one scale, and no others', () => {
    const weight = [...row(128, 127), ...row(128, -254), ...row(128, 63.5), ...row(128, 1)];
    const { scales } = quantize(Float32Array.from(weight), [2, 256]);
    expect([...scales]).toEqual([1, 2, 0.5, Math.fround(1 / 127)]);
  });

  test('keeps a block of zeros as zeros', () => {
    const { bytes, scales } = quantize(
      Float32Array.from([...row(128), ...row(128, 127)]),
      [1, 256],
    );
    expect([...scales]).toEqual([0, 1]);
    expect([...bytes]).toEqual([...Array(128).fill(128), 255, ...Array(127).fill(128)]);
  });

  test('fills up rows that are no multiple of 128, with zeros and without their neighbours', () => {
    // Two rows of 130: each ends with a block of two numbers.
    const weight = [...row(128, 127), 254, -127, ...row(128, 508), 0, 63.5];
    const { bytes, scales } = quantize(Float32Array.from(weight), [2, 130]);
    expect([...scales]).toEqual([1, 2, 4, 0.5]);
    const block = (index: number) => [...bytes.slice(index * 128, (index + 1) * 128)];
    expect(block(1)).toEqual([255, Math.round(-63.5) + 128, ...Array(126).fill(128)]);
    expect(block(3)).toEqual([128, 255, ...Array(126).fill(128)]);
  });

  test('is off by half a scale at most', () => {
    const number = fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 270 }))
      .chain(([out, inner]) =>
        fc.record({
          shape: fc.constant([out, inner] as const),
          numbers: fc.array(number, { minLength: out * inner, maxLength: out * inner }),
          power: fc.integer({ min: -60, max: 10 }),
        }),
      );
    fc.assert(
      fc.property(matrix, ({ shape, numbers, power }) => {
        // Each is a float32 as it is.
        const weight = numbers.map((number) => number * 2 ** power);
        const excess = restore(weight, shape).map(
          ({ value, scale }, place) => Math.abs(value - (weight[place] ?? Number.NaN)) - scale / 2,
        );
        const largest = Math.max(...weight.map(Math.abs));
        // The scale itself is rounded to float32.
        expect(Math.max(...excess)).toBeLessThanOrEqual(largest * 2 ** -23);
      }),
    );
  });

  test('keeps the largest number of a block to float32', () => {
    const weight = row(128, 0.3, -0.7, 0.1);
    expect(restore(weight, [1, 128])[1]?.value).toBeCloseTo(-0.7, 6);
  });
});

test('transpose() turns rows into columns', () => {
  expect([...transpose(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3])]).toEqual([1, 4, 2, 5, 3, 6]);
});
