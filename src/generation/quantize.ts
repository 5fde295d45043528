import { QUANTIZED_BLOCK } from '../engine/graph/index.ts';

export interface QuantizedWeight {
  /** [out, blocks, 128]: round(w / scale) + 128. */
  readonly bytes: Uint8Array;
  /** [out, blocks]: largest magnitude of the block / 127. */
  readonly scales: Float32Array;
}

/** Rounds a weight [out, in] to 8 bits, one scale for 128 neighbours of a row. */
export function quantize(
  weight: Float32Array,
  [out, inner]: readonly [number, number],
): QuantizedWeight {
  const blocks = Math.ceil(inner / QUANTIZED_BLOCK);
  const bytes = new Uint8Array(out * blocks * QUANTIZED_BLOCK).fill(128);
  const scales = new Float32Array(out * blocks);
  for (let block = 0; block < out * blocks; block++) {
    const row = Math.floor(block / blocks);
    const column = (block % blocks) * QUANTIZED_BLOCK;
    const start = row * inner + column;
    const length = Math.min(QUANTIZED_BLOCK, inner - column);
    let largest = 0;
    for (let i = start; i < start + length; i++) {
      const magnitude = Math.abs(weight[i]!);
      if (magnitude > largest) largest = magnitude;
    }
    if (largest === 0) continue;
    const scale = Math.fround(largest / 127);
    scales[block] = scale;
    const target = block * QUANTIZED_BLOCK - start;
    // ⌊x + ½⌋ + 128 of a number that is never negative.
    for (let i = start; i < start + length; i++) bytes[target + i] = weight[i]! / scale + 128.5;
  }
  return { bytes, scales };
}

/** A matrix [rows, columns] as [columns, rows]. */
export function transpose(
  matrix: Float32Array,
  [rows, columns]: readonly [number, number],
): Float32Array {
  const turned = new Float32Array(matrix.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) turned[j * rows + i] = matrix[i * columns + j]!;
  }
  return turned;
}
