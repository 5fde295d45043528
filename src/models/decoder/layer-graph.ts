import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import {
  attention,
  type ByteFormat,
  concat,
  type Dim,
  dimAdd,
  type Graph,
  gatherRows,
  input,
  keep,
  makeGraph,
  mul,
  permuteRows,
  reshape,
  sizeOf,
  slice,
  type Value,
} from '../../engine/graph/index.ts';
import type { BatchForm } from './batch-plan.ts';
import type { DecoderConfig } from './decoder-config.ts';
import type { Architecture } from './families/index.ts';
import type { HeadValues } from './layer-context.ts';
import { type ContextOptions, ModuleContext } from './module-context.ts';

export interface LayerGraphOptions extends Partial<BatchForm> {
  readonly lora?: LoraConfig | undefined;
  /** How products with weights in bytes are computed; weights are float32 if missing. */
  readonly bytes?: ByteFormat | undefined;
  /** Multiplies by masks that are fed as `<name>.dropout`: the inputs of adapted modules or, without
   *  adapters, the outputs of the attention and MLP sublayers. */
  readonly dropout?: boolean;
  /** Merges adapters into the weights at each run, which is faster for small weights and many rows. */
  readonly mergeLora?: boolean;
  /** Also returns the keys and values of the tokens, [M, kvHeads, D]. */
  readonly cache?: boolean;
  /** Number of consecutive layers; 1 by default. */
  readonly layers?: number;
}

/**
 * Decoder layers over packed tokens: x [M, hidden], real tokens only, to y. Only attention sees the
 * tokens in blocks, through the index tables of `PackedBatch.plan`. The names of each layer's inputs
 * and outputs start with `layerPrefix`.
 */
export function layerGraph(
  { family, config }: Architecture,
  { cache = false, layers = 1, ...options }: LayerGraphOptions = {},
): Graph {
  const inputs = new Map<string, Value>();
  const outputs: Record<string, Value> = {};
  let y = input('x', ['M', config.hidden_size]);
  for (let i = 0; i < layers; i++) {
    const prefix = layerPrefix(i, layers);
    const context = new PackedContext(config, { prefix, inputs, ...options });
    y = family.layer(context, y);
    const { k, v } = context.keysAndValues;
    if (cache) Object.assign(outputs, { [`${prefix}k`]: k, [`${prefix}v`]: v });
  }
  return makeGraph({ y, ...outputs });
}

/** Prefix of the names of a layer's inputs in a graph of several layers; empty for a single layer. */
export function layerPrefix(index: number, layers: number): string {
  return layers === 1 ? '' : `${index}.`;
}

/** The parts of one layer: its sublayers, [out, in] of its linear modules and the shapes of its weights. */
export function layerParts({
  family,
  config,
}: Architecture): Pick<ModuleContext, 'modules' | 'sublayers' | 'weights'> {
  const context = new PackedContext(config, {});
  family.layer(context, input('x', ['M', config.hidden_size]));
  return context;
}

class PackedContext extends ModuleContext {
  keysAndValues: { readonly k?: Value; readonly v?: Value } = {};
  private readonly blocks: readonly number[];
  private readonly shared: boolean;
  private readonly past: boolean;

  constructor(config: DecoderConfig, options: ContextOptions & Partial<BatchForm>) {
    super(config, options);
    const { blocks = 1, shared = false, past = false } = options;
    this.blocks = Array.from({ length: blocks }, (_, i) => i);
    this.shared = shared;
    this.past = past;
  }

  attend({ q, k, v }: HeadValues): Value {
    this.keysAndValues = { k, v };
    const [, heads, size] = q.shape as [string, number, number];
    const pack = this.input('pack.q', ['M', heads], 'int32');
    const unpack = this.input('unpack.q', [this.placesOf('T', heads)], 'int32');
    const rows = reshape(q, [sizeOf(['M', heads]), size]);
    const unpacked = permuteRows(rows, unpack, reshape(pack, rows.shape.slice(0, 1)));
    const queries = this.splitBlocks(unpacked, { lengths: 'T', heads });
    const [keys, values] = [this.seen(k, 'k'), this.seen(v, 'v')];
    const mixed = this.blocks.map((i) => {
      const bias = this.input(`bias.${i}`, [`B${i}`, 1, `T${i}`, `S${i}`]);
      const attended = attention({ q: queries[i]!, k: keys[i]!, v: values[i]!, bias });
      // Padded queries attend to real tokens, so their gradient must be 0.
      const real = mul(attended, this.input(`real.${i}`, [`B${i}`, 1, `T${i}`, 1]));
      return reshape(real, [sizeOf(attended.shape.slice(0, 3)), size]);
    });
    const packed = permuteRows(join(mixed), pack, unpack);
    return keep(reshape(packed, ['M', heads * size]));
  }

  /** Keys or values that each block sees, [B, kvHeads, S, D]. */
  private seen(own: Value, name: 'k' | 'v'): Value[] {
    const [, heads, size] = own.shape as [string, number, number];
    const unpack = this.input('unpack.kv', [this.placesOf('S', heads)], 'int32');
    const rows = (values: Value) => reshape(values, [sizeOf(values.shape.slice(0, 2)), size]);
    if (this.past) {
      const past = this.input(`${this.prefix}past.${name}`, ['P', heads, size]);
      return this.splitBlocks(gatherRows(rows(concat([past, own], 0)), unpack), {
        lengths: 'S',
        heads,
      });
    }
    const places = this.input('places.kv', [this.shared ? 'K' : 1, 'M', heads], 'int32');
    const all = sizeOf(['M', heads]);
    const inverse = reshape(places, this.shared ? ['K', all] : [all]);
    return this.splitBlocks(permuteRows(rows(own), unpack, inverse), { lengths: 'S', heads });
  }

  /** Rows [Σ B·heads·L, D] as blocks, each [B, heads, L, D]. */
  private splitBlocks(
    rows: Value,
    { lengths, heads }: { readonly lengths: 'T' | 'S'; readonly heads: number },
  ): Value[] {
    let start: Dim = 0;
    return this.blocks.map((i) => {
      const shape = [`B${i}`, heads, `${lengths}${i}`, rows.shape[1] as number];
      const end = dimAdd(start, sizeOf(shape.slice(0, 3)));
      const part = this.blocks.length === 1 ? rows : slice(rows, { axis: 0, start, end });
      start = end;
      return reshape(part, shape);
    });
  }

  private placesOf(lengths: 'T' | 'S', heads: number): Dim {
    return this.blocks
      .map((i) => sizeOf([`B${i}`, heads, `${lengths}${i}`]))
      .reduce((sum, size) => dimAdd(sum, size), 0);
  }
}

function join(parts: readonly Value[]): Value {
  return parts.length === 1 ? (parts[0] as Value) : concat(parts, 0);
}
