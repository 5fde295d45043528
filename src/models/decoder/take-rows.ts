import { type Tensor, tensor } from '../../engine/runtime/index.ts';

/** Some rows of a matrix, copied. */
export function takeRows(x: Tensor<'float32'>, rows: ArrayLike<number>): Tensor<'float32'> {
  const width = x.shape[1]!;
  const taken = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) {
    taken.set(x.data.subarray(rows[i]! * width, (rows[i]! + 1) * width), i * width);
  }
  return tensor(taken, [rows.length, width]);
}
