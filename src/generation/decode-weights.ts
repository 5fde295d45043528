import { constant, QUANTIZED_BLOCK, quantizedMatmul } from '../engine/graph/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import {
  fedWeights,
  productWith,
  remember,
  type WeightSource,
} from '../models/decoder/weight-source.ts';
import { quantize, transpose } from './quantize.ts';

/**
 * How the decode graph holds the base: `f32` packed by ONNX Runtime for speed (a copy of its own),
 * `f32-feeds` the shared copy itself, `int8` rounded to 8 bits (a copy of a quarter of the size).
 */
export type RolloutPrecision = 'f32' | 'f32-feeds' | 'int8';

/** The weights of a decode graph at a precision. */
export const weightSources: Readonly<Record<RolloutPrecision, (base: BaseModel) => WeightSource>> =
  {
    'f32-feeds': fedWeights,
    f32: (base) => {
      const weight = constants(base);
      return { weight, product: productWith(weight) };
    },
    int8: (base) => ({ weight: constants(base), product: quantizedProducts(base) }),
  };

function constants(base: BaseModel): WeightSource['weight'] {
  return remember((name, shape) => constant(base.weight(name).data, { shape }));
}

function quantizedProducts(base: BaseModel): WeightSource['product'] {
  return (x, name, { out, transposed = false }) => {
    const inner = x.shape.at(-1) as number;
    const { data } = base.weight(name);
    const weight = transposed ? transpose(data, [inner, out]) : data;
    const { bytes, scales } = quantize(weight, [out, inner]);
    const blocks = scales.length / out;
    return quantizedMatmul(
      x,
      constant(bytes, { dtype: 'uint8', shape: [out, blocks, QUANTIZED_BLOCK] }),
      constant(scales, { shape: [out, blocks] }),
    );
  };
}
