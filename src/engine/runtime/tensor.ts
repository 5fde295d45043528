import type { DType } from '../graph/value.ts';

/** Host arrays for each dtype that can be fed and returned; booleans are bytes 0 and 1. */
export interface HostArrays {
  readonly float32: Float32Array;
  readonly int32: Int32Array;
  readonly bool: Uint8Array;
  readonly float16: Uint16Array;
  readonly int8: Int8Array;
}

/** Dtypes of tensors in host memory. */
export type HostDType = keyof HostArrays;

/** A tensor in host memory. */
export interface Tensor<D extends HostDType = HostDType> {
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly data: HostArrays[D];
}

export function tensor(data: Float32Array, shape: readonly number[]): Tensor<'float32'>;
export function tensor(data: Int32Array, shape: readonly number[]): Tensor<'int32'>;
export function tensor(data: Uint8Array, shape: readonly number[]): Tensor<'bool'>;
export function tensor(data: Uint16Array, shape: readonly number[]): Tensor<'float16'>;
export function tensor(data: Int8Array, shape: readonly number[]): Tensor<'int8'>;
/** Wraps an array as a tensor; nothing is copied. */
export function tensor(data: HostArrays[HostDType], shape: readonly number[]): Tensor {
  const size = shape.reduce((product, dim) => product * dim, 1);
  if (data.length !== size) {
    throw new RangeError(
      `Cannot create a tensor of shape [${shape}]: it must have ${size} elements, got ${data.length}`,
    );
  }
  return { dtype: dtypeOf(data), shape, data } as Tensor;
}

function dtypeOf(data: HostArrays[HostDType]): DType {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Int32Array) return 'int32';
  if (data instanceof Int8Array) return 'int8';
  return data instanceof Uint8Array ? 'bool' : 'float16';
}
