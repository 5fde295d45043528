import type { ByteFormat } from '../../engine/graph/index.ts';
import { byteLimit, machineMemory, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { BaseModel, type BaseModelOptions, type BasePrecision } from './base-model.ts';
import { ByteWeight, VOCABULARY_BLOCK, type WeightLayout } from './byte-weight.ts';
import type { Architecture } from './families/index.ts';
import { byName, fingerprintStream, type NamedWeight } from './fingerprint-weights.ts';
import { moduleShapes, transposedModules, weightShapes } from './weight-shapes.ts';

export interface QuantizeOptions extends Omit<BaseModelOptions, 'bytes' | 'quantizedFrom'> {
  /** How products with bytes are computed; by default the fastest exact way of this processor. */
  readonly format?: ByteFormat | undefined;
  /** How the 8-bit matrices are held in memory; by default what `holdBase` chooses. */
  readonly held?: BasePrecision | undefined;
}

/**
 * A base with 8-bit matrices, held as bytes or as the float32 numbers that the bytes stand for. The weights
 * arrive one by one, ordered by name, and each can be freed once it is quantized. Norms, biases and
 * learned positions keep all digits.
 */
export async function quantizeBase(
  architecture: Architecture,
  weights: AsyncIterable<NamedWeight> | Iterable<NamedWeight>,
  { format, held, ...options }: QuantizeOptions = {},
): Promise<BaseModel> {
  const isHeldAsFloats = (held ?? (await holdBase(architecture, 'int8'))) === 'f32';
  const layouts = matrixLayouts(architecture);
  const bytes = new Map<string, ByteWeight>();
  const others = new Map<string, Tensor<'float32'>>();
  const quantizeEach = async function* (): AsyncGenerator<NamedWeight> {
    for await (const [name, weight] of weights) {
      const layout = layouts.get(name);
      const quantized = layout && quantize(name, weight, layout);
      if (quantized === undefined) others.set(name, weight);
      else if (isHeldAsFloats) {
        others.set(name, tensor(quantized.dequantize(layout), weight.shape));
      } else bytes.set(name, quantized);
      yield [name, weight];
    }
  };
  const quantizedFrom = await fingerprintStream(architecture, quantizeEach());
  const byteBase = { weights: bytes, format: format ?? (await exactFormat()) };
  return new BaseModel(architecture, others, {
    ...{ ...options, quantizedFrom },
    ...(!isHeldAsFloats && { bytes: byteBase }),
  });
}

/** 8-bit matrices are held as float32 numbers if these take at most this fraction of the memory. */
const FLOAT_FRACTION = 1 / 3;

/** How a base holds its matrices in memory. Where the processor has no dot products of bytes, an 8-bit base
 *  holds its values as float32 numbers if they fit: it then runs at the speed of a float32 base, in its
 *  memory. Larger models stay in bytes, which are converted at each use. */
export async function holdBase(
  architecture: Architecture,
  precision: BasePrecision | 'auto',
  {
    format = exactFormat(),
    memory = machineMemory(),
  }: { readonly format?: Promise<Pick<ByteFormat, 'rows'>>; readonly memory?: number } = {},
): Promise<BasePrecision> {
  if (precision !== 'int8') return 'f32';
  const isConverted = (await format).rows === 'float32';
  const fits = baseBytes(architecture, 'f32') <= FLOAT_FRACTION * memory;
  return isConverted && fits ? 'f32' : 'int8';
}

/** The fastest products of bytes that are exact enough for training. Two bytes per number are almost twice
 *  as fast as float32 where the processor has dot products of bytes, and slower where it has none. */
export async function exactFormat(): Promise<ByteFormat> {
  const maxByte = await byteLimit();
  return { rows: maxByte === 127 ? 'two-byte' : 'float32', maxByte };
}

/** Bytes of memory of a model's weights, held at a precision. */
export function baseBytes(architecture: Architecture, precision: BasePrecision): number {
  const layouts = precision === 'int8' ? matrixLayouts(architecture) : new Map();
  let total = 0;
  for (const [name, shape] of weightShapes(architecture)) {
    const layout = layouts.get(name);
    total += layout
      ? layout.out * (layout.inner + 4)
      : 4 * shape.reduce((product, dim) => product * dim, 1);
  }
  return total;
}

type MatrixLayout = WeightLayout & { readonly blockSize?: number };

/** The matrices of a model: linear modules, embedding and output head. */
function matrixLayouts(architecture: Architecture): ReadonlyMap<string, MatrixLayout> {
  const { family, config } = architecture;
  const layouts = new Map<string, MatrixLayout>();
  const transposed = [...transposedModules(architecture)];
  for (const [module, [out, inner]] of moduleShapes(architecture)) {
    const isTransposed = transposed.some((name) => module.endsWith(`.${name}`));
    layouts.set(`${module}.weight`, { out, inner, transposed: isTransposed });
  }
  const { vocab_size: out, hidden_size: inner } = config;
  for (const name of [family.names.embedding, family.names.head]) {
    layouts.set(name, { out, inner, blockSize: VOCABULARY_BLOCK });
  }
  return layouts;
}

function quantize(name: string, { data }: Tensor<'float32'>, layout: MatrixLayout): ByteWeight {
  try {
    return new ByteWeight(data, layout);
  } catch (error) {
    throw new RangeError(`Cannot quantize "${name}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The weights of a model in the order in which they are quantized. */
export function orderedWeights({ weights }: Pick<BaseModel, 'weights'>): NamedWeight[] {
  return [...weights].sort(byName);
}
