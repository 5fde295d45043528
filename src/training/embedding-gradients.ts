import type { NamedArrays } from '../engine/optim/index.ts';
import type { Tensor } from '../engine/runtime/index.ts';
import type { BaseModel, PackedBatch } from '../models/index.ts';

/** Gradients of the embedding, and of learned positions, from that of the first layer's input:
 *  each token adds its row to its place in the table. */
export function embeddingGradients(
  { architecture }: BaseModel,
  { tokens, positions }: PackedBatch,
  dx: Tensor<'float32'>,
): NamedArrays {
  const { family, config } = architecture;
  const { hidden_size: width, vocab_size, max_position_embeddings } = config;
  const { embedding, positions: places } = family.names;
  return {
    [embedding]: addRows(dx.data, tokens, { count: vocab_size, width }),
    ...(places !== undefined && {
      [places]: addRows(dx.data, positions, { count: max_position_embeddings, width }),
    }),
  };
}

function addRows(
  rows: Float32Array,
  ids: Int32Array,
  { count, width }: { count: number; width: number },
): Float32Array {
  const table = new Float32Array(count * width);
  for (let m = 0; m < ids.length; m++) {
    const start = ids[m]! * width;
    for (let i = 0; i < width; i++) table[start + i] = table[start + i]! + rows[m * width + i]!;
  }
  return table;
}
