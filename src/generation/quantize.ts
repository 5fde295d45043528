export interface QuantizedWeight {
  /** [in, out]: round(w / scale). */
  readonly bytes: Int8Array;
  /** [out]: largest magnitude of what leads to an output / the largest byte. */
  readonly scales: Float32Array;
}

export interface QuantizeOptions {
  readonly out: number;
  readonly inner: number;
  /** Whether the weight is [in, out] instead of [out, in]. */
  readonly transposed?: boolean;
  /** The largest byte that is used; 127 by default. */
  readonly most?: number;
}

/** Outputs whose bytes are written together, so that they lie side by side. */
const TILE = 32;

/** Rounds a weight to 8 bits, one scale for each output. */
export function quantize(
  weight: Float32Array,
  { out, inner, transposed = false, most = 127 }: QuantizeOptions,
): QuantizedWeight {
  const [byOutput, byInput] = transposed ? [1, out] : [inner, 1];
  const scales = new Float32Array(out);
  for (let o = 0; o < out; o++) {
    let largest = 0;
    for (let i = 0, at = o * byOutput; i < inner; i++, at += byInput) {
      const magnitude = Math.abs(weight[at]!);
      if (magnitude > largest) largest = magnitude;
    }
    scales[o] = largest / most;
  }
  const bytes = new Int8Array(out * inner);
  for (let first = 0; first < out; first += TILE) {
    const end = Math.min(first + TILE, out);
    for (let i = 0; i < inner; i++) {
      for (let o = first; o < end; o++) {
        const scale = scales[o]!;
        // ⌊x + ½⌋ of a number that 128 more makes positive.
        const level =
          scale === 0 ? 128 : Math.floor(weight[o * byOutput + i * byInput]! / scale + 128.5);
        bytes[i * out + o] = level - 128;
      }
    }
  }
  return { bytes, scales };
}
