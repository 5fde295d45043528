import { isTarget, type LoraConfig, loraScaling } from '../../base-setup/lora/lora-config.ts';
import {
  adaptedLinear,
  add,
  type ByteFormat,
  byteProduct,
  concat,
  dropout,
  input,
  type LoraWeights,
  linear,
  loraDelta,
  matmul,
  rope,
  type Shape,
  type Value,
} from '../../engine/graph/index.ts';
import { blockWidths } from './byte-weight.ts';
import type { DecoderConfig } from './decoder-config.ts';
import type { HeadValues, LayerContext, LinearOptions } from './layer-context.ts';

export interface ContextOptions {
  readonly lora?: LoraConfig | undefined;
  /** Multiplies by masks that are fed as `<name>.dropout`: the inputs of adapted modules or, without
   *  adapters, the outputs of the attention and MLP sublayers. */
  readonly dropout?: boolean;
  /** How products with weights in bytes are computed; weights are float32 if missing. */
  readonly bytes?: ByteFormat | undefined;
  /** Merges adapters into the weights at each run, which is faster for small weights and many rows. Has
   *  no effect with dropout, which applies to the adapter alone, or on weights that are transposed or in
   *  bytes. */
  readonly mergeLora?: boolean;
  /** Prefix of the names of weights, modules and adapters. */
  readonly prefix?: string;
  /** The graph's inputs so far, if several contexts build one graph. */
  readonly inputs?: Map<string, Value>;
}

/** The feed of the dropout mask of an adapted module or a sublayer. */
export function dropoutName(name: string): string {
  return `${name}.dropout`;
}

/** Weights and modules as graph inputs; subclasses implement attention. */
export abstract class ModuleContext implements LayerContext {
  readonly config: DecoderConfig;
  /** [out, in] of every linear module that was built. */
  readonly modules = new Map<string, readonly [number, number]>();
  /** The sublayers whose outputs were added to the hidden states. */
  readonly sublayers = new Set<string>();
  /** Shape of every frozen weight that was used. */
  readonly weights = new Map<string, Shape>();
  private readonly lora: LoraConfig | undefined;
  private readonly dropout: boolean;
  private readonly bytes: ByteFormat | undefined;
  private readonly mergeLora: boolean;
  protected readonly prefix: string;
  private readonly inputs: Map<string, Value>;

  constructor(config: DecoderConfig, options: ContextOptions = {}) {
    const { lora, dropout = false, bytes, mergeLora = false, prefix = '' } = options;
    this.config = config;
    this.lora = lora;
    this.dropout = dropout;
    this.bytes = bytes;
    this.mergeLora = mergeLora && bytes === undefined;
    this.prefix = prefix;
    this.inputs = options.inputs ?? new Map();
  }

  abstract attend(heads: HeadValues): Value;

  weight(name: string, shape: Shape): Value {
    this.weights.set(`${this.prefix}${name}`, shape);
    return this.input(`${this.prefix}${name}`, shape);
  }

  linear(
    x: Value,
    module: string,
    { out, bias = false, transposed = false }: LinearOptions,
  ): Value {
    const inner = x.shape.at(-1) as number;
    this.modules.set(`${this.prefix}${module}`, [out, inner]);
    let y: Value;
    if (!isTarget(module, this.lora)) y = this.product(x, module, { out, transposed });
    else if (this.mergeLora && !this.dropout && !transposed) {
      const weight = this.weight(`${module}.weight`, [out, inner]);
      y = adaptedLinear(x, weight, this.loraWeights(module, [out, inner]));
    } else {
      y = add(this.product(x, module, { out, transposed }), this.adapter(x, module, out));
    }
    return bias ? add(y, this.weight(`${module}.bias`, [out])) : y;
  }

  rope(heads: Value): Value {
    const half = (heads.shape[2] as number) / 2;
    return rope(heads, this.input('cos', ['M', half]), this.input('sin', ['M', half]));
  }

  addSublayer(x: Value, y: Value, sublayer: string): Value {
    const name = `${this.prefix}${sublayer}`;
    this.sublayers.add(name);
    if (!this.dropout || this.lora !== undefined) return add(x, y);
    return add(x, dropout(y, this.input(dropoutName(name), y.shape)));
  }

  protected product(x: Value, module: string, options: ProductOptions): Value {
    const name = `${module}.weight`;
    if (this.bytes === undefined) {
      return productWith((weight, shape) => this.weight(weight, shape))(x, name, options);
    }
    const get: InputGetter = (...input) => this.input(...input);
    return productOfBytes(get, this.bytes)(x, `${this.prefix}${name}`, options);
  }

  private adapter(x: Value, module: string, out: number): Value {
    const inner = x.shape.at(-1) as number;
    const mask = this.dropout && this.input(dropoutName(`${this.prefix}${module}`), ['M', inner]);
    return loraDelta(mask ? dropout(x, mask) : x, this.loraWeights(module, [out, inner]));
  }

  private loraWeights(module: string, [out, inner]: readonly [number, number]): LoraWeights {
    const lora = this.lora as LoraConfig;
    return {
      a: this.input(`${this.prefix}${module}.lora_A.weight`, [lora.r, inner]),
      b: this.input(`${this.prefix}${module}.lora_B.weight`, [out, lora.r]),
      scaling: loraScaling(lora),
    };
  }

  /** An input of the graph, created on first use. */
  protected input(name: string, shape: Shape, dtype: InputDType = 'float32'): Value {
    const value = this.inputs.get(name) ?? input(name, shape, dtype);
    this.inputs.set(name, value);
    return value;
  }
}

type InputDType = 'float32' | 'int32' | 'int8';

/** Returns an input of a graph, or a constant in its place. */
type InputGetter = (name: string, shape: Shape, dtype?: InputDType) => Value;

/** Returns a frozen weight by its Hugging Face name. */
export type WeightGetter = (name: string, shape: Shape) => Value;

export interface ProductOptions {
  readonly out: number;
  readonly transposed?: boolean;
  /** Outputs per block, if the weight is stored in blocks. */
  readonly blockSize?: number;
}

/** Source of frozen weights for the decode graph: inputs at run time, or constants of the graph. */
export interface WeightSource {
  readonly weight: WeightGetter;
  /** x·Wᵀ for a weight [out, in], or x·W for one [in, out]; a quantized source computes it differently. */
  product(x: Value, name: string, options: ProductOptions): Value;
}

/** Weights as graph inputs under their Hugging Face names. */
export function fedWeights(): WeightSource {
  const weight = remember((name, shape) => input(name, shape));
  return { weight, product: productWith(weight) };
}

/** Weights with all matrices in bytes; graph inputs by default.
 *  @param create builds the input or constant of a weight, which a graph contains once */
export function byteWeights(format: ByteFormat, create: InputGetter = input): WeightSource {
  const values = new Map<string, Value>();
  const get: InputGetter = (name, shape, dtype = 'float32') => {
    const value = values.get(name) ?? create(name, shape, dtype);
    values.set(name, value);
    return value;
  };
  return { weight: (name, shape) => get(name, shape), product: productOfBytes(get, format) };
}

/** Products with weights in bytes, whose blocks are named `<name>.bytes.<block>`, [in, outputs], and
 *  `<name>.scales.<block>`. */
function productOfBytes(get: InputGetter, format: ByteFormat): WeightSource['product'] {
  return (x, name, { out, blockSize }) => {
    const inner = x.shape.at(-1) as number;
    const blocks = blockWidths(out, blockSize).map((width, block) => {
      const weight = get(`${name}.bytes.${block}`, [inner, width], 'int8');
      const scales = get(`${name}.scales.${block}`, [width]);
      return byteProduct(x, { weight, scales }, format);
    });
    return blocks.length === 1 ? blocks[0]! : concat(blocks);
  };
}

/** Products with full-precision weights from any source. */
export function productWith(weight: WeightGetter): WeightSource['product'] {
  return (x, name, { out, transposed = false }) => {
    const inner = x.shape.at(-1) as number;
    return transposed
      ? matmul(x, weight(name, [inner, out]))
      : linear(x, weight(name, [out, inner]));
  };
}

/** Creates each value once: a graph may contain an input or a large constant only once. */
export function remember(create: WeightGetter): WeightGetter {
  const values = new Map<string, Value>();
  return (name, shape) => {
    const value = values.get(name) ?? create(name, shape);
    values.set(name, value);
    return value;
  };
}
