import { type Tensor, tensor } from '../engine/runtime/index.ts';
import type { PackedBatch } from '../models/index.ts';

interface StatesOptions {
  readonly sequences: readonly { readonly promptTokens: ArrayLike<number> }[];
  readonly stepOffsets: Int32Array;
}

/**
 * Rows of a packed batch that hold the states of each sequence's steps: the state before response
 * token t is read at the row of the token before it.
 * @example prompts of 3 and 2 tokens, responses of 2 and 1, one step for each token  →  [2, 3, 6]
 */
export function stateRows(
  batch: Pick<PackedBatch, 'rows'>,
  { sequences, stepOffsets }: StatesOptions,
): Int32Array {
  const rows = new Int32Array(stepOffsets[sequences.length]!);
  for (const [i, { promptTokens }] of sequences.entries()) {
    const start = stepOffsets[i]!;
    const first = promptTokens.length - 1;
    const states = batch.rows[i]!.subarray(first, first + stepOffsets[i + 1]! - start);
    rows.set(states, start);
  }
  return rows;
}

/** A matrix of `count` rows, zero but for the given ones: the gradient of taking rows. What stands
 *  for one row is added up. */
export function putRows(
  part: Tensor<'float32'>,
  rows: ArrayLike<number>,
  count: number,
): Tensor<'float32'> {
  const width = part.shape[1]!;
  const whole = new Float32Array(count * width);
  for (let i = 0; i < rows.length; i++) {
    const [from, to] = [i * width, rows[i]! * width];
    for (let j = 0; j < width; j++) whole[to + j]! += part.data[from + j]!;
  }
  return tensor(whole, [count, width]);
}
