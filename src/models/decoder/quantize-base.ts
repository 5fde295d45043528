import type { ByteFormat } from '../../engine/graph/index.ts';
import { byteLimit, type Tensor } from '../../engine/runtime/index.ts';
import { BaseModel, type BaseModelOptions } from './base-model.ts';
import { ByteWeight, VOCABULARY_BLOCK, type WeightLayout } from './byte-weight.ts';
import type { Architecture } from './families/index.ts';
import { byName, fingerprintStream, type NamedWeight } from './fingerprint-weights.ts';
import { moduleShapes, transposedModules, weightShapes } from './weight-shapes.ts';

export interface QuantizeOptions extends Omit<BaseModelOptions, 'bytes'> {
  /** How products are computed; by default the fastest exact way of this processor. */
  readonly format?: ByteFormat | undefined;
}

/**
 * A base with its matrices in bytes. The weights arrive one by one, ordered by name, and each can be
 * freed once its bytes exist. Norms, biases and learned positions stay float32.
 */
export async function quantizeBase(
  architecture: Architecture,
  weights: AsyncIterable<NamedWeight> | Iterable<NamedWeight>,
  { format, ...options }: QuantizeOptions = {},
): Promise<BaseModel> {
  const layouts = matrixLayouts(architecture);
  const bytes = new Map<string, ByteWeight>();
  const others = new Map<string, Tensor<'float32'>>();
  const quantizeEach = async function* (): AsyncGenerator<NamedWeight> {
    for await (const [name, weight] of weights) {
      const layout = layouts.get(name);
      if (layout === undefined) others.set(name, weight);
      else bytes.set(name, quantize(name, weight, layout));
      yield [name, weight];
    }
  };
  const fingerprint = await fingerprintStream(architecture, quantizeEach());
  const byteBase = { weights: bytes, format: format ?? (await exactFormat()), fingerprint };
  return new BaseModel(architecture, others, { ...options, bytes: byteBase });
}

/** The fastest products of bytes that are exact enough for training. Two bytes per number are almost twice
 *  as fast as float32 where the processor has dot products of bytes, and slower where it has none. */
export async function exactFormat(): Promise<ByteFormat> {
  const maxByte = await byteLimit();
  return { rows: maxByte === 127 ? 'two-byte' : 'float32', maxByte };
}

/** Bytes of memory of a model's weights at a precision. */
export function baseBytes(architecture: Architecture, precision: BaseModel['precision']): number {
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
