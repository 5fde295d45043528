import {
  add,
  attention,
  type Graph,
  input,
  type LoraWeights,
  loraLinear,
  makeGraph,
  mul,
  permuteRows,
  reshape,
  rmsNorm,
  rope,
  type Shape,
  silu,
  sizeOf,
  type Value,
} from '../engine/graph/index.ts';

/** Sizes of a decoder block, by Hugging Face's names. */
export interface BlockConfig {
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly rms_norm_eps: number;
}

export interface LoraConfig {
  readonly r: number;
  readonly lora_alpha: number;
}

/** The seven linear layers of a block and their [out, in] sizes. */
export function linearShapes(
  config: BlockConfig,
): Readonly<Record<string, readonly [number, number]>> {
  const { hidden_size, intermediate_size, head_dim } = config;
  const queries = config.num_attention_heads * head_dim;
  const keys = config.num_key_value_heads * head_dim;
  return {
    'self_attn.q_proj': [queries, hidden_size],
    'self_attn.k_proj': [keys, hidden_size],
    'self_attn.v_proj': [keys, hidden_size],
    'self_attn.o_proj': [hidden_size, queries],
    'mlp.gate_proj': [intermediate_size, hidden_size],
    'mlp.up_proj': [intermediate_size, hidden_size],
    'mlp.down_proj': [hidden_size, intermediate_size],
  };
}

/**
 * A Qwen3 decoder block over packed tokens: x is [M, hidden], real tokens only. Attention alone sees
 * the padded [B, T] form, through the index tables of `packingTables`.
 */
export function decoderBlock(config: BlockConfig, lora?: LoraConfig): Graph {
  const weight = (name: string, shape: Shape) => input(`${name}.weight`, shape);
  const norm = (x: Value, name: string) =>
    rmsNorm(x, weight(name, x.shape.slice(-1)), config.rms_norm_eps);
  const shapes = linearShapes(config);
  const linear = (x: Value, name: string) => {
    const shape = shapes[name] as readonly [number, number];
    return loraLinear(x, weight(name, shape), lora && loraInputs(name, shape, lora));
  };
  const x = input('x', ['M', config.hidden_size]);
  const h = add(
    x,
    linear(selfAttention(config, norm(x, 'input_layernorm'), { linear, norm }), 'self_attn.o_proj'),
  );
  const n = norm(h, 'post_attention_layernorm');
  const gated = mul(silu(linear(n, 'mlp.gate_proj')), linear(n, 'mlp.up_proj'));
  return makeGraph({ y: add(h, linear(gated, 'mlp.down_proj')) });
}

type Layer = (x: Value, name: string) => Value;

function selfAttention(
  config: BlockConfig,
  x: Value,
  { linear, norm }: { linear: Layer; norm: Layer },
): Value {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: size } = config;
  const cos = input('cos', ['M', size / 2]);
  const sin = input('sin', ['M', size / 2]);
  const split = (name: string, count: number) =>
    reshape(linear(x, `self_attn.${name}_proj`), ['M', count, size]);
  const rotated = (name: string, count: number) =>
    rope(norm(split(name, count), `self_attn.${name}_norm`), cos, sin);

  const queryTables = headTables('q', heads);
  const keyTables = headTables('kv', kvHeads);
  const padded = (rows: Value, tables: HeadTables) =>
    permuteRows(
      reshape(rows, [sizeOf(['M', tables.count]), size]),
      tables.unpack,
      reshape(tables.pack, [sizeOf(['M', tables.count])]),
    );
  const mixed = attention({
    q: padded(rotated('q', heads), queryTables),
    k: padded(rotated('k', kvHeads), keyTables),
    v: padded(split('v', kvHeads), keyTables),
    bias: input('bias', ['B', 1, 'T', 'T']),
  });
  const flat = reshape(mixed, [sizeOf(['B', heads, 'T']), size]);
  const packed = permuteRows(
    flat,
    queryTables.pack,
    reshape(queryTables.unpack, flat.shape.slice(0, 1)),
  );
  return reshape(packed, ['M', heads * size]);
}

interface HeadTables {
  readonly count: number;
  readonly unpack: Value;
  readonly pack: Value;
}

function headTables(name: string, count: number): HeadTables {
  return {
    count,
    unpack: input(`unpack.${name}`, ['B', count, 'T'], 'int32'),
    pack: input(`pack.${name}`, ['M', count], 'int32'),
  };
}

function loraInputs(
  name: string,
  [out, inner]: readonly [number, number],
  lora: LoraConfig,
): LoraWeights {
  return {
    a: input(`${name}.lora_A.weight`, [lora.r, inner]),
    b: input(`${name}.lora_B.weight`, [out, lora.r]),
    scaling: lora.lora_alpha / lora.r,
  };
}
