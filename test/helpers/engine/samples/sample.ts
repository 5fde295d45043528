import { type Dim, evaluateDim, type Shape } from '../../../../src/engine/graph/dim.ts';
import type { DType } from '../../../../src/engine/graph/value.ts';

/** How the elements of an input are sampled, and its dtype. */
export const dtypeOfKind = {
  normal: 'float32',
  positive: 'float32',
  /** ½ to 2, of either sign. */
  nonzero: 'float32',
  /** Multiples of ¼: at least ⅛ from every `offGrid` number. */
  grid: 'float32',
  offGrid: 'float32',
  /** Different numbers, at least ⅛ apart, in random order. */
  distinct: 'float32',
  /** 0, or 1/(1 − p) with p = ¼. */
  dropoutMask: 'float32',
  /** Masks any keys but the first. */
  paddingBias: 'float32',
  /** Masks the keys after the query's position. */
  causalBias: 'float32',
  condition: 'bool',
  /** Below the input's bound. */
  index: 'int32',
  /** A permutation and its inverse, which match within one run. */
  permutation: 'int32',
  inverse: 'int32',
} as const satisfies Record<string, DType>;

export type ElementKind = keyof typeof dtypeOfKind;

/** One input of a sample: its shape, and how its elements are sampled. */
export interface SampleInput {
  readonly shape: Shape;
  readonly kind: ElementKind;
  /** Indices are below this size. */
  readonly bound?: Dim;
  /** Has no gradient. */
  readonly fixed?: boolean;
}

/** The arguments of a graph function: plain data, so a counterexample can be printed. */
export interface Sample {
  readonly inputs: Readonly<Record<string, SampleInput>>;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** One run of a compiled sample. */
export interface SampleRun {
  readonly seed: number;
  readonly sizes: Readonly<Record<string, number>>;
}

export function resolve(dim: Dim, sizes: SampleRun['sizes']): number {
  return evaluateDim(dim, (symbol) => sizes[symbol] ?? Number.NaN);
}
