import { type Tensor, tensor } from '../engine/runtime/index.ts';

interface Lengths {
  readonly promptTokens: ArrayLike<number>;
}

/**
 * Rows of a packed batch that hold the states of each sequence's steps: the state before response
 * token t is read at the row of the token before it.
 * @example prompts of 3 and 2 tokens, responses of 2 and 1, one step for each token  →  [2, 3, 6]
 */
export function stateRows(
  sequences: readonly Lengths[],
  { offsets, stepOffsets }: { offsets: Int32Array; stepOffsets: Int32Array },
): Int32Array {
  const rows = new Int32Array(stepOffsets[sequences.length]!);
  let first = 0;
  sequences.forEach(({ promptTokens }, i) => {
    const start = stepOffsets[i]!;
    for (let s = start; s < stepOffsets[i + 1]!; s++) {
      rows[s] = first + promptTokens.length - 1 + (s - start);
    }
    first += promptTokens.length + offsets[i + 1]! - offsets[i]!;
  });
  return rows;
}

/** A matrix of `count` rows, zero but for the given ones: the gradient of taking rows. */
export function putRows(
  part: Tensor<'float32'>,
  rows: ArrayLike<number>,
  count: number,
): Tensor<'float32'> {
  const width = part.shape[1]!;
  const whole = new Float32Array(count * width);
  for (let i = 0; i < rows.length; i++) {
    whole.set(part.data.subarray(i * width, (i + 1) * width), rows[i]! * width);
  }
  return tensor(whole, [count, width]);
}
