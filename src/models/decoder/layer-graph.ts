import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import {
  attention,
  type Graph,
  input,
  makeGraph,
  mul,
  permuteRows,
  reshape,
  rope,
  sizeOf,
  type Value,
} from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import type { HeadValues } from './layer-context.ts';
import { ModuleContext } from './module-context.ts';

export interface LayerGraphOptions {
  readonly lora?: LoraConfig | undefined;
  /** Also returns the keys and values of the tokens, [M, kvHeads, D], for a cache. */
  readonly cache?: boolean;
}

/**
 * One decoder layer over packed tokens: x [M, hidden], real tokens only, to y. Attention alone sees
 * the padded [B, T] form, through the index tables of `packingTables`.
 */
export function layerGraph(
  { family, config }: Architecture,
  { lora, cache = false }: LayerGraphOptions = {},
): Graph {
  const context = new PackedContext(config, { lora });
  const y = family.layer(context, input('x', ['M', config.hidden_size]));
  return makeGraph(cache ? { y, ...context.keysAndValues } : { y });
}

/** What one layer is made of: [out, in] of its linear modules and the shapes of its weights. */
export function layerParts({
  family,
  config,
}: Architecture): Pick<ModuleContext, 'modules' | 'weights'> {
  const context = new PackedContext(config);
  family.layer(context, input('x', ['M', config.hidden_size]));
  return context;
}

class PackedContext extends ModuleContext {
  keysAndValues: { readonly k?: Value; readonly v?: Value } = {};

  rope(heads: Value): Value {
    const half = (heads.shape[2] as number) / 2;
    return rope(heads, this.input('cos', ['M', half]), this.input('sin', ['M', half]));
  }

  attend({ q, k, v }: HeadValues): Value {
    this.keysAndValues = { k, v };
    const heads = q.shape[1] as number;
    const size = q.shape[2] as number;
    const mixed = attention({
      q: this.pad(q, 'q'),
      k: this.pad(k, 'kv'),
      v: this.pad(v, 'kv'),
      bias: this.input('bias', ['B', 1, 'T', 'T']),
    });
    // Padded queries look at real tokens, so no gradient may reach them.
    const real = mul(mixed, this.input('real', ['B', 1, 'T', 1]));
    const rows = reshape(real, [sizeOf(['B', heads, 'T']), size]);
    const { pack, unpack } = this.tables('q', heads);
    const packed = permuteRows(rows, pack, reshape(unpack, rows.shape.slice(0, 1)));
    return reshape(packed, ['M', heads * size]);
  }

  /** Packed heads [M, heads, D] to [B, heads, T, D], each head of a token being one row. */
  private pad(heads: Value, kind: 'q' | 'kv'): Value {
    const [, count, size] = heads.shape as [string, number, number];
    const { pack, unpack } = this.tables(kind, count);
    const rows = reshape(heads, [sizeOf(['M', count]), size]);
    return permuteRows(rows, unpack, reshape(pack, rows.shape.slice(0, 1)));
  }

  private tables(kind: 'q' | 'kv', count: number): { unpack: Value; pack: Value } {
    return {
      unpack: this.input(`unpack.${kind}`, ['B', count, 'T'], 'int32'),
      pack: this.input(`pack.${kind}`, ['M', count], 'int32'),
    };
  }
}
