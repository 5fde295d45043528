import * as fc from 'fast-check';
import { type Dim, sizeOf } from '../../../../src/engine/graph/dim.ts';
import type { ElementKind, Sample } from './sample.ts';
import { axesOf, axisOf, dim, rank, shapes } from './shapes.ts';

const x = (shape: readonly Dim[], kind: ElementKind = 'normal') => ({ x: { shape, kind } });

export function reduction(kind: ElementKind): fc.Arbitrary<Sample> {
  return shapes(0, 4).chain((shape) =>
    axesOf(shape.length).map((axes) => ({ inputs: x(shape, kind), attributes: { axes } })),
  );
}

/** Merges adjacent axes, inserts axes of size 1, or the reverse. */
const reshape: fc.Arbitrary<Sample> = fc
  .tuple(shapes(0, 4), fc.nat(4), fc.nat(4))
  .map(([shape, from, to]) => {
    const [start, end] = [Math.min(from, to), Math.max(from, to)];
    const merged = sizeOf(shape.slice(start, end));
    return {
      inputs: x(shape),
      attributes: { shape: [...shape.slice(0, start), merged, ...shape.slice(end)] },
    };
  });

/** Known sizes become 1 or are omitted; a symbol must be bound by an axis of the input. */
const broadcastTo: fc.Arbitrary<Sample> = fc
  .tuple(shapes(0, 4), fc.nat(4), fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
  .map(([shape, most, ones]) => {
    const leading = shape.findIndex((size) => typeof size === 'string');
    const dropped = Math.min(most, leading < 0 ? shape.length : leading);
    const from = shape.map((size, i) => (ones[i] && typeof size === 'number' ? 1 : size));
    return { inputs: x(from.slice(dropped)), attributes: { shape } };
  });

const transpose: fc.Arbitrary<Sample> = shapes(1, 4).chain((shape) =>
  fc
    .shuffledSubarray([...shape.keys()], { minLength: shape.length })
    .map((permutation) => ({ inputs: x(shape), attributes: { permutation } })),
);

/** Any part of an axis of known size; the start, the end or all of an unknown one. */
const cuts = fc.oneof(
  fc.tuple(fc.nat(5), fc.nat(5), rank(1, 5)).map(([from, to, size]) => ({
    size,
    start: Math.min(from, to, size),
    end: Math.min(Math.max(from, to), size),
  })),
  fc.constantFrom<{ size: Dim; start?: Dim; end?: Dim }>(
    { size: 'F', start: 0, end: 1 },
    { size: 'F', start: 1, end: 'F' },
    { size: 'F', start: 'F-1', end: 'F' },
    { size: 'F', end: 'F-1' },
    { size: 'F' },
  ),
);

const slice: fc.Arbitrary<Sample> = fc
  .tuple(shapes(1, 4), cuts)
  .chain(([shape, { size, ...cut }]) =>
    axisOf(shape.length).map((axis) => ({
      inputs: x(shape.with(axis, size)),
      attributes: { axis, ...cut },
    })),
  );

const pad: fc.Arbitrary<Sample> = shapes(1, 4).chain((shape) =>
  axisOf(shape.length).chain((axis) => {
    const zeros = fc.constantFrom<Dim>(0, 1, 3, shape.at(axis)!);
    return fc
      .tuple(zeros, zeros)
      .map(([before, after]) => ({ inputs: x(shape), attributes: { axis, before, after } }));
  }),
);

const concat: fc.Arbitrary<Sample> = shapes(1, 4).chain((shape) =>
  fc
    .tuple(axisOf(shape.length), fc.tuple(dim('E'), dim('F'), dim('E')), rank(1, 3))
    .map(([axis, sizes, count]) => {
      const parts = sizes
        .slice(0, count)
        .map((size, i) => [`x${i}`, { shape: shape.with(axis, size), kind: 'normal' as const }]);
      return { inputs: Object.fromEntries(parts), attributes: { axis } };
    }),
);

export const layoutSamples = { reshape, broadcastTo, transpose, slice, pad, concat };
