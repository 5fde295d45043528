import { type ByteRows, byteMatmul, constant, toBytes, type Value } from '../engine/graph/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import {
  fedWeights,
  productWith,
  remember,
  type WeightSource,
} from '../models/decoder/weight-source.ts';
import { largestByte } from './largest-byte.ts';
import { quantize } from './quantize.ts';

/**
 * How the decode graph holds the base: `f32` packed by ONNX Runtime for speed (a copy of its own),
 * `f32-feeds` the shared copy itself, `int8` rounded to 8 bits (a copy of a quarter of the size).
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

/** Products of bytes; rows that several weights read are rounded once. */
function byteProducts(base: BaseModel, most: number): WeightSource['product'] {
  const rounded = new Map<Value, ByteRows>();
  return (x, name, { out, transposed = false }) => {
    const inner = x.shape.at(-1) as number;
    const { data } = base.weight(name);
    const { bytes, scales } = quantize(data, { out, inner, transposed, most });
    const rows = rounded.get(x) ?? toBytes(x);
    rounded.set(x, rows);
    return byteMatmul(
      rows,
      constant(bytes, { dtype: 'int8', shape: [inner, out] }),
      constant(scales, { shape: [out] }),
    );
  };
}
