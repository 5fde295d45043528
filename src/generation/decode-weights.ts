import type { PPOConfig } from '../config/ppo-config.ts';
import { byteProduct, constant, type RowFormat } from '../engine/graph/index.ts';
import { byteLimit } from '../engine/runtime/index.ts';
import type { BaseModel, BasePrecision } from '../models/decoder/base-model.ts';
import { ByteWeight } from '../models/decoder/byte-weight.ts';
import { decodeGraph } from '../models/decoder/decode-graph.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import {
  byteWeights,
  fedWeights,
  productWith,
  remember,
  type WeightSource,
} from '../models/decoder/module-context.ts';

/**
 * How the decode graph holds the base's weights: `f32` packed by ONNX Runtime for speed (a second copy),
 * `f32-feeds` the shared arrays themselves. `int8` and `int8-packed` are in bytes, multiplied by rows of
 * bytes: a packed copy of a quarter of the size; `int8` shares the bytes of a base in bytes instead, which
 * ONNX Runtime then packs in every step.
 */
export type RolloutPrecision = 'f32' | 'f32-feeds' | 'int8' | 'int8-packed';

/** Whether rollouts at a precision sample from a slightly different policy than the one that is trained. */
export function isInexact(precision: RolloutPrecision): boolean {
  return precision === 'int8' || precision === 'int8-packed';
}

/** Whether log π_old is recomputed after the rollout, because a server or a quantized copy of the policy
 *  generates. */
export function recomputesLogprobs({
  rollouts,
  rolloutPrecision,
}: Pick<PPOConfig, 'rollouts' | 'rolloutPrecision'>): boolean {
  return rollouts !== undefined || isInexact(rolloutPrecision);
}

/** The fastest precision that needs no copy of a base's weights. */
export function sharedPrecision({ bytes }: Pick<BaseModel, 'bytes'>): RolloutPrecision {
  return bytes === undefined ? 'f32-feeds' : 'int8';
}

/** How the decode graph of a model holds its weights: on a device, all graphs share one copy. */
export function heldPrecision(
  { backend }: Pick<BaseModel, 'backend'>,
  precision: RolloutPrecision,
): RolloutPrecision {
  if (!backend.keepsTensors) return precision;
  if (isInexact(precision)) {
    throw new Error(
      `Cannot generate on ${backend.device}: the rollout precision must be f32, got ${precision}; set rolloutPrecision to f32 or device to cpu`,
    );
  }
  return 'f32-feeds';
}

/** Sampling needs less precision than training: importance weights correct for it. */
const SAMPLING_ROWS: RowFormat = 'one-byte';

/** The weights of a decode graph at a precision. */
export async function weightSource(
  base: BaseModel,
  precision: RolloutPrecision,
): Promise<WeightSource> {
  const { bytes } = base;
  if (precision === 'f32-feeds') return bytes ? byteWeights(bytes.format) : fedWeights();
  const weight = constants(base);
  if (precision === 'f32') return { weight, product: constantProducts(base) };
  const format = { rows: SAMPLING_ROWS, maxByte: await byteLimit() };
  if (precision === 'int8' && bytes) return byteWeights(format);
  if (precision === 'int8-packed' && bytes) {
    return byteWeights(format, (name, shape, dtype = 'float32') =>
      constant(base.hostFeed(name).data, { dtype, shape }),
    );
  }
  return {
    weight,
    product(x, name, { out, transposed = false }) {
      const inner = x.shape.at(-1) as number;
      const [block] = new ByteWeight(base.weight(name).data, { out, inner, transposed }).blocks;
      const operand = {
        weight: constant(block!.bytes.data, { dtype: 'int8', shape: [inner, out] }),
        scales: constant(block!.scales.data, { shape: [out] }),
      };
      return byteProduct(x, operand, format);
    },
  };
}

function constants(base: BaseModel): WeightSource['weight'] {
  return remember((name, shape) => constant(base.weight(name).data, { shape }));
}

/** Products with float32 constants; those of a base in bytes are dequantized. */
function constantProducts(base: BaseModel): WeightSource['product'] {
  return (x, name, options) => {
    const weight = remember((key, shape) => constant(base.values(key, options), { shape }));
    return productWith(weight)(x, name, options);
  };
}

/** Bytes of weights that the decode graph holds in addition to the base, per precision.
 *  @param held how the base holds its matrices */
export function engineBytes(
  architecture: Architecture,
  held: BasePrecision = 'f32',
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
  const packed = total('int8');
  const int8 = held === 'int8' ? 0 : packed;
  return { f32: total('f32'), 'f32-feeds': 0, int8, 'int8-packed': packed };
}
