import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clipGradNorm, GradientAccumulator, globalNorm, type NamedArrays } from './gradients.ts';

const finite = fc.float32Array({
  noNaN: true,
  noDefaultInfinity: true,
  minLength: 1,
  maxLength: 9,
});
const gradientsOf = (arrays: Float32Array[]): NamedArrays =>
  Object.fromEntries(arrays.map((array, i) => [`w${i}`, array.slice()]));
const finiteGradients = fc.array(finite, { minLength: 1, maxLength: 4 }).map(gradientsOf);

describe('globalNorm()', () => {
  test('globalNorm() returns the hand-worked number', () => {
    expect(globalNorm({ a: Float32Array.of(3), b: Float32Array.of(0, 4) })).toBe(5);
    expect(globalNorm({})).toBe(0);
  });

  test('globalNorm() is finite for all finite gradients', () => {
    fc.assert(fc.property(finiteGradients, (of) => Number.isFinite(globalNorm(of))));
    expect(globalNorm({ a: Float32Array.of(3e38, 3e38) })).toBeCloseTo(Math.SQRT2 * 3e38, -35);
  });

  test('globalNorm() does not depend on the order of parameters', () => {
    fc.assert(
      fc.property(finiteGradients, (of) => {
        const norm = globalNorm(of);
        const reversed = globalNorm(Object.fromEntries(Object.entries(of).reverse()));
        expect(Math.abs(reversed - norm)).toBeLessThanOrEqual(1e-12 * norm);
      }),
    );
  });
});

describe('clipGradNorm()', () => {
  test('clipGradNorm() returns the hand-worked numbers', () => {
    const gradients = { a: Float32Array.of(3), b: Float32Array.of(0, 4) };
    expect(clipGradNorm(gradients, 1)).toBe(5);
    expect(gradients.a[0]).toBeCloseTo(0.6, 6);
    expect(gradients.b[0]).toBe(0);
    expect(gradients.b[1]).toBeCloseTo(0.8, 6);
  });

  test("clipGradNorm() has torch's 1e-6 in its coefficient", () => {
    const gradients = { a: Float32Array.of(1e-6) };
    clipGradNorm(gradients, 1e-6);
    expect(gradients.a[0]).toBeCloseTo(0.5e-6, 12);
  });

  test('clipGradNorm() reduces the norm to at most maxNorm', () => {
    const maxNorms = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(finiteGradients, maxNorms, (gradients, maxNorm) => {
        const before = globalNorm(gradients);
        expect(clipGradNorm(gradients, maxNorm)).toBe(before);
        expect(globalNorm(gradients)).toBeLessThanOrEqual(maxNorm * (1 + 1e-6));
      }),
    );
  });

  test('clipGradNorm() does not change gradients below maxNorm', () => {
    fc.assert(
      fc.property(finiteGradients, (gradients) => {
        const copies = gradientsOf(Object.values(gradients));
        clipGradNorm(gradients, globalNorm(gradients) * 1.001 + 1e-5);
        expect(gradients).toEqual(copies);
        clipGradNorm(gradients, Infinity);
        expect(gradients).toEqual(copies);
      }),
    );
  });

  test.each([Number.NaN, Infinity, -Infinity])(
    'clipGradNorm() names the gradient that contains %d',
    (bad) => {
      const gradients = { fine: Float32Array.of(9), 'q.lora_A': Float32Array.of(0, bad) };
      expect(() => clipGradNorm(gradients, 1)).toThrow(
        `Cannot clip gradients: gradient "q.lora_A" must be finite, got ${bad} at 1`,
      );
      expect(gradients.fine[0]).toBe(9);
      expect(Number.isFinite(globalNorm(gradients))).toBe(false);
    },
  );

  test.each([0, -1, Number.NaN])('clipGradNorm() rejects a maxNorm of %d', (maxNorm) => {
    expect(() => clipGradNorm({}, maxNorm)).toThrow(
      `Cannot clip gradients: maxNorm must be above 0, got ${maxNorm}; use Infinity to not clip`,
    );
  });
});

describe('GradientAccumulator', () => {
  const parameters = { a: new Float32Array(2), b: new Float32Array(1) };

  test('add() sums, scale() multiplies and reset() clears in the same buffers', () => {
    const accumulator = new GradientAccumulator(parameters);
    const { a, b } = accumulator.gradients;
    accumulator.add({ a: Float32Array.of(1, 2), b: Float32Array.of(3) });
    accumulator.add({ a: Float32Array.of(10, 20), b: Float32Array.of(30) });
    accumulator.scale(0.5);
    expect([...a!, ...b!]).toEqual([5.5, 11, 16.5]);
    accumulator.reset();
    accumulator.add({ b: Float32Array.of(4) });
    expect([...a!, ...b!]).toEqual([0, 0, 4]);
    expect(accumulator.gradients.a).toBe(a);
    expect([...parameters.a, ...parameters.b]).toEqual([0, 0, 0]);
  });

  test('add() keeps no reference to its argument', () => {
    const accumulator = new GradientAccumulator(parameters);
    const b = Float32Array.of(1);
    accumulator.add({ b });
    b[0] = 100;
    accumulator.add({ b: Float32Array.of(2) });
    expect([...accumulator.gradients.b!]).toEqual([3]);
  });

  test('add() returns the same sum for any split of the gradients', () => {
    const whole = fc.integer({ min: -1000, max: 1000 });
    const part = fc.tuple(whole, whole, whole);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.nat(8), (parts, cut) => {
        const sum = (of: number[][], k: number) => of.reduce((total, part) => total + part[k]!, 0);
        const accumulator = new GradientAccumulator(parameters);
        for (const half of [parts.slice(cut), parts.slice(0, cut)]) {
          accumulator.add({ b: Float32Array.of(sum(half, 2)) });
          accumulator.add({ a: Float32Array.of(sum(half, 0), sum(half, 1)) });
        }
        const sums = [0, 1, 2].map((k) => sum(parts, k));
        const { a, b } = accumulator.gradients;
        expect([...a!, ...b!]).toEqual(sums);
      }),
    );
  });

  test('add() rejects gradients with an unknown name or wrong length and adds nothing', () => {
    const accumulator = new GradientAccumulator(parameters);
    const b = Float32Array.of(1);
    expect(() => accumulator.add({ b, c: b })).toThrow(
      'Cannot accumulate gradients: gradient "c" must belong to a parameter, got no such parameter',
    );
    expect(() => accumulator.add({ b, a: b })).toThrow(
      'Cannot accumulate gradients: gradient "a" must have 2 elements, got 1',
    );
    expect([...accumulator.gradients.b!]).toEqual([0]);
  });
});
