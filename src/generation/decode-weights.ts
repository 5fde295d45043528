import {
  type ByteRows,
  byteMatmul,
  constant,
  input,
  makeGraph,
  toBytes,
  type Value,
} from '../engine/graph/index.ts';
import { compile, tensor } from '../engine/runtime/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { decodeGraph } from '../models/decoder/decode-graph.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import {
  fedWeights,
  productWith,
  remember,
  type WeightSource,
} from '../models/decoder/module-context.ts';

/**
 * How the decode graph holds the base's weights: `f32` packed by ONNX Runtime for speed (a second copy),
 * `f32-feeds` the shared arrays themselves, `int8` quantized to 8 bits (a copy of a quarter of the size).
 */
export type RolloutPrecision = 'f32' | 'f32-feeds' | 'int8';

/** The weights of a decode graph at a precision. */
export async function weightSource(
  base: BaseModel,
  precision: RolloutPrecision,
): Promise<WeightSource> {
  if (precision === 'f32-feeds') return fedWeights();
  const weight = constants(base);
  return {
    weight,
    product: precision === 'int8' ? byteProducts(base, await largestByte()) : productWith(weight),
  };
}

function constants(base: BaseModel): WeightSource['weight'] {
  return remember((name, shape) => constant(base.weight(name).data, { shape }));
}

/** Products in 8 bits; rows that several weights read are quantized once. */
function byteProducts(base: BaseModel, maxByte: number): WeightSource['product'] {
  const quantized = new Map<Value, ByteRows>();
  return (x, name, { out, transposed = false }) => {
    const inner = x.shape.at(-1) as number;
    const { data } = base.weight(name);
    const { bytes, scales } = quantize(data, { out, inner, transposed, maxByte });
    const rows = quantized.get(x) ?? toBytes(x);
    quantized.set(x, rows);
    return byteMatmul(
      rows,
      constant(bytes, { dtype: 'int8', shape: [inner, out] }),
      constant(scales, { shape: [out] }),
    );
  };
}

/** Bytes of weights that the decode graph holds in addition to the base, per precision. */
export function engineBytes(
  architecture: Architecture,
): Readonly<Record<RolloutPrecision, number>> {
  const sizes = new Map<string, { f32: number; int8: number }>();
  const fed = fedWeights();
  decodeGraph(architecture, {
    source: {
      weight(name, shape) {
        const f32 = 4 * (shape as readonly number[]).reduce((product, dim) => product * dim, 1);
        sizes.set(name, { f32, int8: f32 });
        return fed.weight(name, shape);
      },
      product(x, name, options) {
        const { out } = options;
        const inner = x.shape.at(-1) as number;
        // One byte per weight and one float32 scale per output.
        sizes.set(name, { f32: 4 * out * inner, int8: out * (inner + 4) });
        return fed.product(x, name, options);
      },
    },
  });
  const total = (precision: 'f32' | 'int8') =>
    [...sizes.values()].reduce((sum, size) => sum + size[precision], 0);
  return { f32: total('f32'), 'f32-feeds': 0, int8: total('int8') };
}

export interface QuantizedWeight {
  /** [in, out]: round(w / scale). */
  readonly bytes: Int8Array;
  /** [out]: largest magnitude of an output's weights / maxByte. */
  readonly scales: Float32Array;
}

export interface QuantizeOptions {
  readonly out: number;
  readonly inner: number;
  /** Whether the weight is [in, out] instead of [out, in]. */
  readonly transposed?: boolean;
  /** Largest byte to use; 127 by default. */
  readonly maxByte?: number;
}

/** Outputs whose bytes are written together, for locality. */
const TILE = 32;

/** Quantizes a weight to 8 bits with one scale per output. */
export function quantize(
  weight: Float32Array,
  { out, inner, transposed = false, maxByte = 127 }: QuantizeOptions,
): QuantizedWeight {
  const [byOutput, byInput] = transposed ? [1, out] : [inner, 1];
  const scales = new Float32Array(out);
  for (let o = 0; o < out; o++) {
    let largest = 0;
    for (let i = 0, at = o * byOutput; i < inner; i++, at += byInput) {
      const magnitude = Math.abs(weight[at]!);
      if (magnitude > largest) largest = magnitude;
    }
    scales[o] = largest / maxByte;
  }
  const bytes = new Int8Array(out * inner);
  for (let first = 0; first < out; first += TILE) {
    const end = Math.min(first + TILE, out);
    for (let i = 0; i < inner; i++) {
      for (let o = first; o < end; o++) {
        const scale = scales[o]!;
        // ⌊x + ½⌋, shifted by 128 to be positive.
        const level =
          scale === 0 ? 128 : Math.floor(weight[o * byOutput + i * byInput]! / scale + 128.5);
        bytes[i * out + o] = level - 128;
      }
    }
  }
  return { bytes, scales };
}

/**
 * The largest byte that weights may use, found by a test product. Processors without 8-bit dot product
 * instructions add two products in 16 bits, where 255·127·2 overflows; with 7 bits nothing does.
 */
export async function largestByte(): Promise<127 | 63> {
  const size = 64;
  const weight = constant(new Int8Array(size * size).fill(127), {
    dtype: 'int8',
    shape: [size, size],
  });
  const scales = constant(new Float32Array(size).fill(1), { shape: [size] });
  const rows = toBytes(input('x', ['M', size]));
  const graph = await compile(makeGraph({ y: byteMatmul(rows, weight, scales) }));
  // Each number is quantized to the byte 255.
  const x = tensor(new Float32Array(4 * size).fill(127), [4, size]);
  const { y } = await graph.run({ x });
  await graph.dispose();
  return y!.data.every((sum) => sum === size * 127 * 127) ? 127 : 63;
}
