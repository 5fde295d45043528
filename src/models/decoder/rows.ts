import { type Tensor, tensor } from '../../engine/runtime/index.ts';

type Matrix = Tensor<'float32'>;

/** Copies some rows of a matrix. */
export function takeRows(x: Matrix, rows: ArrayLike<number>): Matrix {
  const width = x.shape[1]!;
  const selected = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) {
    selected.set(x.data.subarray(rows[i]! * width, (rows[i]! + 1) * width), i * width);
  }
  return tensor(selected, [rows.length, width]);
}

/** The gradient of `takeRows`: a matrix of `count` rows, zero except for `rows`. Rows that occur
 *  several times are added up. */
export function scatterRows(part: Matrix, rows: ArrayLike<number>, count: number): Matrix {
  const width = part.shape[1]!;
  const whole = new Float32Array(count * width);
  for (let i = 0; i < rows.length; i++) {
    const [from, to] = [i * width, rows[i]! * width];
    for (let j = 0; j < width; j++) whole[to + j]! += part.data[from + j]!;
  }
  return tensor(whole, [count, width]);
}

/** A view of consecutive rows of a tensor [M, …]. */
export function sliceRows(
  { data, shape }: Matrix,
  { start, end }: { readonly start: number; readonly end: number },
): Matrix {
  const width = data.length / shape[0]!;
  return tensor(data.subarray(start * width, end * width), [end - start, ...shape.slice(1)]);
}

/** Concatenates tensors along their rows; a single one is returned unchanged.
 *  @param into memory for the result, used if it is large enough */
export function concatRows(parts: readonly Matrix[], into?: Float32Array): Matrix {
  if (parts.length === 1) return parts[0]!;
  const size = parts.reduce((sum, { data }) => sum + data.length, 0);
  const fits = into !== undefined && into.length >= size;
  const joined = fits ? into.subarray(0, size) : new Float32Array(size);
  let start = 0;
  for (const { data } of parts) {
    joined.set(data, start);
    start += data.length;
  }
  const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
  return tensor(joined, [rows, ...parts[0]!.shape.slice(1)]);
}

/** x · mask, element by element; x itself without a mask. */
export function mulElements(x: Matrix, mask: Matrix | undefined): Matrix {
  if (mask === undefined) return x;
  return tensor(
    x.data.map((value, i) => value * mask.data[i]!),
    x.shape,
  );
}
