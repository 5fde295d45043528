import type { ByteFormat } from '../../engine/graph/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';

/** Consecutive outputs of a weight in bytes: w[o, i] = bytes[i, o]·scales[o]. */
export interface ByteBlock {
  /** [in, outputs] */
  readonly bytes: Tensor<'int8'>;
  /** [outputs] */
  readonly scales: Tensor<'float32'>;
}

/** The matrices of a base in bytes. */
export interface ByteBase {
  /** By their Hugging Face names; norms and biases are among the base's float32 weights. */
  readonly weights: ReadonlyMap<string, ByteWeight>;
  /** How products with them are computed. */
  readonly format: ByteFormat;
}

/** The sizes and the layout of a float32 weight. */
export interface WeightLayout {
  readonly out: number;
  readonly inner: number;
  /** Whether it is stored as [in, out] instead of [out, in]. */
  readonly transposed?: boolean;
}

/** Outputs per block of an embedding or output head, whose products run block by block. */
export const VOCABULARY_BLOCK = 4096;

/** Numbers of outputs of consecutive blocks.
 *  @example 10 outputs in blocks of 4  →  [4, 4, 2] */
export function blockWidths(out: number, blockSize = out): number[] {
  return Array.from({ length: Math.ceil(out / blockSize) }, (_, b) =>
    Math.min(blockSize, out - b * blockSize),
  );
}

/** A matrix in bytes with one scale per output, quantized from float32. */
export class ByteWeight {
  readonly out: number;
  readonly inner: number;
  readonly blocks: readonly ByteBlock[];
  private readonly blockSize: number;

  /** @param layout.blockSize outputs per block; all by default */
  constructor(
    weight: Float32Array,
    layout: WeightLayout & { readonly blockSize?: number | undefined },
  ) {
    const { out, inner, blockSize = out } = layout;
    this.out = out;
    this.inner = inner;
    this.blockSize = blockSize;
    this.blocks = blockWidths(out, blockSize).map((width, b) =>
      quantizeBlock(weight, { ...layout, first: b * blockSize, width }),
    );
  }

  /** Bytes of memory. */
  get byteLength(): number {
    return this.blocks.reduce(
      (sum, { bytes, scales }) => sum + bytes.data.byteLength + scales.data.byteLength,
      0,
    );
  }

  /** The weights of some outputs as float32, [outputs.length, in]. */
  rows(outputs: ArrayLike<number>): Float32Array {
    const { inner, blockSize } = this;
    const rows = new Float32Array(outputs.length * inner);
    for (let m = 0; m < outputs.length; m++) {
      const { bytes, scales } = this.blocks[Math.floor(outputs[m]! / blockSize)]!;
      const [column, width] = [outputs[m]! % blockSize, scales.data.length];
      const scale = scales.data[column]!;
      for (let i = 0; i < inner; i++) {
        rows[m * inner + i] = bytes.data[i * width + column]! * scale;
      }
    }
    return rows;
  }

  /** The whole matrix as float32, in the layout of the weight it was quantized from. */
  dequantize({ transposed = false }: Pick<WeightLayout, 'transposed'> = {}): Float32Array {
    const { out, inner } = this;
    const rows = this.rows(Int32Array.from({ length: out }, (_, o) => o));
    if (!transposed) return rows;
    return Float32Array.from(rows, (_, at) => rows[(at % out) * inner + Math.floor(at / out)]!);
  }
}

interface BlockRequest extends WeightLayout {
  readonly first: number;
  readonly width: number;
}

/** Outputs whose bytes are written together, for locality. */
const TILE = 32;

function quantizeBlock(weight: Float32Array, request: BlockRequest): ByteBlock {
  const { out, inner, transposed = false, first, width } = request;
  const [byOutput, byInput] = transposed ? [1, out] : [inner, 1];
  const scales = new Float32Array(width);
  for (let o = 0; o < width; o++) {
    scales[o] = bestScale(weight, { start: (first + o) * byOutput, step: byInput, count: inner });
  }
  const bytes = new Int8Array(inner * width);
  const inverses = scales.map((scale) => (scale === 0 ? 0 : 1 / scale));
  for (let tile = 0; tile < width; tile += TILE) {
    const end = Math.min(tile + TILE, width);
    for (let i = 0; i < inner; i++) {
      let at = (first + tile) * byOutput + i * byInput;
      for (let o = tile; o < end; o++, at += byOutput) {
        // ⌊x + ½⌋, shifted by 128 to be positive.
        const level = (weight[at]! * inverses[o]! + 128.5) | 0;
        bytes[i * width + o] = (level < 1 ? 1 : level > 255 ? 255 : level) - 128;
      }
    }
  }
  return { bytes: tensor(bytes, [inner, width]), scales: tensor(scales, [width]) };
}

const MAX_BYTE = 127;
/** Fractions of the largest magnitude at which weights may be clipped, in percent. */
const CLIPS = [100, 99, 98, 97, 96, 95, 93, 90, 85, 80, 70, 60, 50] as const;
const LOWEST_CLIP = 50;

/** Evenly spaced numbers of an array. */
interface Stride {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/**
 * The scale with the least squared error. Clipping at c rounds weights to multiples of c/127, which costs
 * (c/127)²/12 per weight, and truncates larger ones, which costs (|w| − c)² each.
 * @example 100,000 zeros, a 1 and a −0.2  →  clipped at 0.7: 0.25 + 0.09 instead of 0.52
 */
export function bestScale(weights: Float32Array, stride: Stride): number {
  const largest = largestMagnitude(weights, stride);
  if (largest === 0) return 0;
  const { counts, sums, squares } = measureTail(weights, stride, largest);
  let [best, least] = [100, Number.POSITIVE_INFINITY];
  let [number, sum, square] = [0, 0, 0];
  let percent = 100;
  for (const clip of CLIPS) {
    for (; percent > clip; percent--) {
      number += counts[percent - 1]!;
      sum += sums[percent - 1]!;
      square += squares[percent - 1]!;
    }
    const c = clip / 100;
    // In units of the largest magnitude: Σ(|w| − c)² = Σw² − 2c·Σ|w| + c²·n
    const error = (stride.count * (c / MAX_BYTE) ** 2) / 12 + square - 2 * c * sum + c * c * number;
    if (error < least) [best, least] = [clip, error];
  }
  return ((best / 100) * largest) / MAX_BYTE;
}

function largestMagnitude(weights: Float32Array, { start, step, count }: Stride): number {
  let [largest, sum] = [0, 0];
  for (let n = 0, at = start; n < count; n++, at += step) {
    const magnitude = Math.abs(weights[at]!);
    sum += magnitude;
    if (magnitude > largest) largest = magnitude;
  }
  if (Number.isFinite(sum)) return largest;
  throw new RangeError('weights must be finite numbers, got NaN or infinity');
}

/** Number, sum and sum of squares of the magnitudes in each percent of the largest one, from
 *  `LOWEST_CLIP` up. */
function measureTail(weights: Float32Array, { start, step, count }: Stride, largest: number) {
  const [counts, sums, squares] = [
    new Float64Array(100),
    new Float64Array(100),
    new Float64Array(100),
  ];
  const lowest = (LOWEST_CLIP / 100) * largest;
  for (let n = 0, at = start; n < count; n++, at += step) {
    const magnitude = Math.abs(weights[at]!);
    if (magnitude <= lowest) continue;
    const fraction = magnitude / largest;
    const percent = Math.min(99, (100 * fraction) | 0);
    counts[percent]!++;
    sums[percent]! += fraction;
    squares[percent]! += fraction * fraction;
  }
  return { counts, sums, squares };
}
