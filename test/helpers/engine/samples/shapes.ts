import * as fc from 'fast-check';
import type { Dim } from '../../../../src/engine/graph/dim.ts';
import type { ElementKind, Sample, SampleRun } from './sample.ts';

const SYMBOLS = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
type SymbolName = (typeof SYMBOLS)[number];

/** Sizes for the symbols, and a seed for the elements. */
export const runs: fc.Arbitrary<readonly SampleRun[]> = fc.array(
  fc.record({
    seed: fc.nat(),
    sizes: fc.record(
      Object.fromEntries(SYMBOLS.map((symbol) => [symbol, fc.integer({ min: 1, max: 3 })])),
    ),
  }),
  { minLength: 2, maxLength: 2 },
);

/** A symbol, size 1, or another size. */
export const dim = (symbol: SymbolName): fc.Arbitrary<Dim> => fc.constantFrom<Dim>(symbol, 1, 2, 3);

export const rank = (min: number, max: number) => fc.integer({ min, max });

/** Shapes of `min` to `max` axes, each a different symbol or a number. */
export function shapes(min: number, max: number): fc.Arbitrary<Dim[]> {
  return rank(min, max).chain((length) =>
    fc.tuple(...SYMBOLS.slice(0, length).map((symbol) => dim(symbol))),
  );
}

/** Shapes that broadcast together: axes of one shape, some replaced by 1, leading ones omitted. */
export function broadcastShapes(count: number, maxRank: number): fc.Arbitrary<Dim[][]> {
  return shapes(0, maxRank).chain((shape) =>
    fc.array(
      fc
        .tuple(fc.nat(shape.length), fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
        .map(([dropped, ones]) => shape.map((size, i) => (ones[i] ? 1 : size)).slice(dropped)),
      { minLength: count, maxLength: count },
    ),
  );
}

/** An axis of a tensor of `length` axes, counted from the start or from the end. */
export function axisOf(length: number): fc.Arbitrary<number> {
  return fc.integer({ min: -length, max: length - 1 });
}

/** Some distinct axes, counted from either end; undefined for all. */
export function axesOf(length: number): fc.Arbitrary<number[] | undefined> {
  const some = fc
    .tuple(
      fc.subarray([...Array(length).keys()]),
      fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    )
    .map(([axes, fromEnd]) => axes.map((axis) => (fromEnd[axis] ? axis - length : axis)));
  return fc.option(some, { nil: undefined, freq: 4 });
}

/** Samples of a function of one tensor. */
export function unary(kind: ElementKind, shape = shapes(0, 4)): fc.Arbitrary<Sample> {
  return shape.map((x) => ({ inputs: { x: { shape: x, kind } }, attributes: {} }));
}
