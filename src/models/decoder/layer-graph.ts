import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import {
  attention,
  concat,
  type Dim,
  dimAdd,
  type Graph,
  input,
  makeGraph,
  mul,
  permuteRows,
  reshape,
  rope,
  sizeOf,
  slice,
  type Value,
} from '../../engine/graph/index.ts';
import type { DecoderConfig } from './decoder-config.ts';
import type { Architecture } from './families/index.ts';
import type { HeadValues } from './layer-context.ts';
import { type ContextOptions, ModuleContext } from './module-context.ts';
import type { BatchForm } from './packed-batch.ts';

export interface LayerGraphOptions {
  readonly lora?: LoraConfig | undefined;
  /** Adapters see their input through masks that are fed as `<module>.dropout`, [M, in]. */
  readonly dropout?: boolean;
  /** Also returns the keys and values of the tokens, [M, kvHeads, D], for a cache. */
  readonly cache?: boolean;
  /** How many stripes attention is cut into: each looks only as far as its last query; 1 by default. */
  readonly stripes?: number;
  /** Whether sequences have rows in common; false by default. */
  readonly shared?: boolean;
}

/**
 * One decoder layer over packed tokens: x [M, hidden], real tokens only, to y. Attention alone sees
 * the padded [B, T] form, through the index tables of `packingTables`.
 */
export function layerGraph(
  { family, config }: Architecture,
  { lora, dropout = false, cache = false, stripes = 1, shared = false }: LayerGraphOptions = {},
): Graph {
  const context = new PackedContext(config, { lora, dropout, stripes, shared });
  const y = family.layer(context, input('x', ['M', config.hidden_size]));
  return makeGraph(cache ? { y, ...context.keysAndValues } : { y });
}

/** What one layer is made of: [out, in] of its linear modules and the shapes of its weights. */
export function layerParts({
  family,
  config,
}: Architecture): Pick<ModuleContext, 'modules' | 'weights'> {
  const context = new PackedContext(config, { stripes: 1, shared: false });
  family.layer(context, input('x', ['M', config.hidden_size]));
  return context;
}

class PackedContext extends ModuleContext {
  private readonly shared: boolean;
  keysAndValues: { readonly k?: Value; readonly v?: Value } = {};
  /** Where each stripe of queries ends: T0, T0+T1, …; the last one is T. */
  private readonly ends: readonly Dim[];

  constructor(config: DecoderConfig, options: ContextOptions & BatchForm) {
    super(config, options);
    this.shared = options.shared;
    let end: Dim = 0;
    this.ends = Array.from({ length: options.stripes }, (_, i) => {
      end = dimAdd(end, `T${i}`);
      return end;
    });
  }

  private get length(): Dim {
    return this.ends.at(-1) as Dim;
  }

  rope(heads: Value): Value {
    const half = (heads.shape[2] as number) / 2;
    return rope(heads, this.input('cos', ['M', half]), this.input('sin', ['M', half]));
  }

  attend({ q, k, v }: HeadValues): Value {
    this.keysAndValues = { k, v };
    const heads = q.shape[1] as number;
    const size = q.shape[2] as number;
    const mixed = this.causalAttention({
      q: this.pad(q, 'q'),
      k: this.pad(k, 'kv'),
      v: this.pad(v, 'kv'),
    });
    // Padded queries look at real tokens, so no gradient may reach them; nor those that stand twice.
    const real = mul(mixed, this.input('real', ['B', 1, this.length, 1]));
    const rows = reshape(real, [sizeOf(['B', heads, this.length]), size]);
    const { pack, unpack } = this.tables('q', heads);
    const packed = permuteRows(rows, pack, reshape(unpack, rows.shape.slice(0, 1)));
    return reshape(packed, ['M', heads * size]);
  }

  /** Attention stripe by stripe: what no query of a stripe may see is not computed. */
  private causalAttention({ q, k, v }: HeadValues): Value {
    const stripes = this.ends.map((end, i) => {
      const start = this.ends[i - 1] ?? 0;
      const seen = (values: Value) => slice(values, { axis: 2, end });
      const bias = this.input(`bias.${i}`, [`T${i}`, end]);
      return attention({ q: slice(q, { axis: 2, start, end }), k: seen(k), v: seen(v), bias });
    });
    return stripes.length === 1 ? (stripes[0] as Value) : concat(stripes, 2);
  }

  /** Packed heads [M, heads, D] to [B, heads, T, D], each head of a token being one row. */
  private pad(heads: Value, kind: 'q' | 'kv'): Value {
    const [, count, size] = heads.shape as [string, number, number];
    const { pack, unpack } = this.tables(kind, count);
    const rows = reshape(heads, [sizeOf(['M', count]), size]);
    const [all] = rows.shape as [Dim];
    if (kind === 'q' || !this.shared) return permuteRows(rows, unpack, reshape(pack, [all]));
    const places = this.input('places.kv', ['K', 'M', count], 'int32');
    return permuteRows(rows, unpack, reshape(places, ['K', all]));
  }

  private tables(kind: 'q' | 'kv', count: number): { unpack: Value; pack: Value } {
    return {
      unpack: this.input(`unpack.${kind}`, ['B', count, this.length], 'int32'),
      pack: this.input(`pack.${kind}`, ['M', count], 'int32'),
    };
  }
}
