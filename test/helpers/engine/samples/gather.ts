import * as fc from 'fast-check';
import type { Dim } from '../../../../src/engine/graph/dim.ts';
import type { Sample } from './sample.ts';
import { dim, shapes } from './shapes.ts';

/** Axes of the rows, with their own symbols. */
const rowShapes = fc
  .tuple(dim('D'), dim('E'), fc.nat(2))
  .map(([d, e, rank]) => [d, e].slice(0, rank));

/** Few rows and many indices: most rows are read several times, some never. */
const gatherRows: fc.Arbitrary<Sample> = fc
  .tuple(dim('F'), shapes(0, 2), rowShapes)
  .map(([rows, index, row]) => ({
    inputs: {
      x: { shape: [rows, ...row], kind: 'normal' },
      index: { shape: index, kind: 'index', bound: rows },
    },
    attributes: {},
  }));

const scatterAddRows: fc.Arbitrary<Sample> = fc
  .tuple(shapes(0, 2), rowShapes)
  .chain(([index, row]) =>
    // A symbolic number of rows must be bound by an input.
    fc.constantFrom<Dim>(1, 2, 4, ...index).map((rows) => ({
      inputs: {
        updates: { shape: [...index, ...row], kind: 'normal' },
        index: { shape: index, kind: 'index', bound: rows },
      },
      attributes: { rows },
    })),
  );

const permuteRows: fc.Arbitrary<Sample> = fc.tuple(fc.boolean(), rowShapes).map(([split, row]) => {
  const rows = split ? 'A*B' : 'A';
  return {
    inputs: {
      x: { shape: [rows, ...row], kind: 'normal' },
      index: { shape: split ? ['A', 'B'] : ['A'], kind: 'permutation' },
      inverse: { shape: [rows], kind: 'inverse' },
    },
    attributes: {},
  };
});

const gatherLast: fc.Arbitrary<Sample> = fc.tuple(shapes(0, 3), dim('F')).map(([index, size]) => ({
  inputs: {
    x: { shape: [...index, size], kind: 'normal' },
    index: { shape: index, kind: 'index', bound: size },
  },
  attributes: {},
}));

const scatterLast: fc.Arbitrary<Sample> = shapes(0, 3).chain((index) =>
  fc.constantFrom<Dim>(1, 2, 4, ...index).map((size) => ({
    inputs: {
      updates: { shape: index, kind: 'normal' },
      index: { shape: index, kind: 'index', bound: size },
    },
    attributes: { size },
  })),
);

export const gatherSamples = {
  gatherRows,
  scatterAddRows,
  permuteRows,
  gatherLast,
  scatterLast,
  argmax: 'no gradient',
  topKIndices: 'no gradient',
} as const;
