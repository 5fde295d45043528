import type { RopeConfig } from './decoder-config.ts';

/** Rotation angles of packed tokens: [M, D/2] each. */
export interface RopeTables {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

/**
 * The frequency of each pair of a head: θ^(−2i/D), scaled as `rope_type` says.
 * `linear` divides all by `factor`; `llama3` divides the long wavelengths, keeps the short ones and
 * blends between, as Llama 3.1 does.
 * @example D=4, θ=100  →  [1, 0.1]
 */
export function inverseFrequencies(rope: RopeConfig, headDim: number): Float64Array {
  return Float64Array.from({ length: headDim / 2 }, (_, i) => {
    const frequency = rope.rope_theta ** ((-2 * i) / headDim);
    if (rope.rope_type === 'linear') return frequency / rope.factor;
    return rope.rope_type === 'llama3' ? scaleLlama3(frequency, rope) : frequency;
  });
}

function scaleLlama3(frequency: number, rope: RopeConfig): number {
  const { factor, low_freq_factor: low, high_freq_factor: high } = rope;
  const turns = (rope.original_max_position_embeddings * frequency) / (2 * Math.PI);
  if (turns > high) return frequency;
  if (turns < low) return frequency / factor;
  const smooth = (turns - low) / (high - low);
  return (1 - smooth) * (frequency / factor) + smooth * frequency;
}

/** cos and sin of position × frequency, for each token and pair; a repeated position is computed once. */
export function ropeTables(positions: ArrayLike<number>, frequencies: Float64Array): RopeTables {
  const half = frequencies.length;
  const cos = new Float32Array(positions.length * half);
  const sin = new Float32Array(positions.length * half);
  const rows = new Map<number, number>();
  for (let m = 0; m < positions.length; m++) {
    const position = positions[m]!;
    const known = rows.get(position);
    if (known !== undefined) {
      cos.copyWithin(m * half, known * half, (known + 1) * half);
      sin.copyWithin(m * half, known * half, (known + 1) * half);
      continue;
    }
    rows.set(position, m);
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i]!;
      cos[m * half + i] = Math.cos(angle);
      sin[m * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
