import {
  constant,
  linear,
  quantizedMatmul,
  type Shape,
  type Value,
} from '../engine/graph/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { fedWeights, type WeightSource } from '../models/decoder/decode-graph.ts';
import { quantize } from './quantize.ts';

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
      return {
        weight,
        product: (x, name, out) => linear(x, weight(name, [out, x.shape.at(-1) as number])),
      };
    },
    int8: (base) => {
      return {
        weight: constants(base),
        product(x, name, out) {
          const inner = x.shape.at(-1) as number;
          const { bytes, scales } = quantize(base.weight(name).data, [out, inner]);
          const blocks = scales.length / out;
          return quantizedMatmul(
            x,
            constant(bytes, { dtype: 'uint8', shape: [out, blocks, 32] }),
            constant(scales, { shape: [out, blocks] }),
          );
        },
      };
    },
  };

function constants(base: BaseModel): (name: string, shape: Shape) => Value {
  const made = new Map<string, Value>();
  return (name, shape) => {
    const value = made.get(name) ?? constant(base.weight(name).data, { shape });
    made.set(name, value);
    return value;
  };
}
