import type { Dtype } from './dtypes.ts';

/** A tensor and where its bytes lie: what ONNX Runtime needs to read it as external data. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly file: string;
  /** The first byte, counted from the start of the file. */
  readonly offset: number;
  readonly length: number;
}

/** The product of the dims: 1 for a scalar, 0 where any dim is 0, Infinity past 2⁵³ − 1. */
export function countElements(shape: readonly number[]): number {
  if (shape.includes(0)) return 0;
  const count = shape.reduce((product, dim) => product * dim, 1);
  return Number.isSafeInteger(count) ? count : Number.POSITIVE_INFINITY;
}
