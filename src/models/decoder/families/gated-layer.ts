import { mul, reshape, rmsNorm, silu, type Value } from '../../../engine/graph/index.ts';
import type { ConfigReader, DecoderConfig, RopeConfig } from '../decoder-config.ts';
import type { LayerContext, WeightContext } from '../layer-context.ts';
import type { FamilyNames } from './family.ts';

/** Weight names of Llama, which Qwen also uses. */
export const llamaNames: FamilyNames = {
  embedding: 'model.embed_tokens.weight',
  layer: (index) => `model.layers.${index}.`,
  finalNorm: 'model.norm',
  head: 'lm_head.weight',
  tokenClassifier: 'score',
};

/** Fields that Llama's and Qwen's config.json share. */
export function configureGated(json: ConfigReader): DecoderConfig {
  json.expect('hidden_act', 'silu');
  json.expect('use_sliding_window', false);
  const hidden_size = json.size('hidden_size');
  const num_attention_heads = json.size('num_attention_heads');
  const num_key_value_heads = json.size('num_key_value_heads', num_attention_heads);
  if (num_attention_heads % num_key_value_heads !== 0) {
    const rule = `a divisor of num_attention_heads, ${num_attention_heads}`;
    throw json.wrong('num_key_value_heads', rule);
  }
  return {
    model_type: json.string('model_type'),
    vocab_size: json.size('vocab_size'),
    hidden_size,
    intermediate_size: json.size('intermediate_size'),
    num_hidden_layers: json.layers('num_hidden_layers'),
    num_attention_heads,
    num_key_value_heads,
    head_dim: json.size('head_dim', hidden_size / num_attention_heads),
    norm_eps: json.number('rms_norm_eps', 1e-6),
    max_position_embeddings: json.size('max_position_embeddings', 2048),
    tie_word_embeddings: json.boolean('tie_word_embeddings', false),
    attention_bias: json.boolean('attention_bias', false),
    mlp_bias: json.boolean('mlp_bias', false),
    // transformers has no such dropout in these families and ignores the fields.
    embd_pdrop: json.dropout('embd_pdrop', 0),
    resid_pdrop: json.dropout('resid_pdrop', 0),
    rope: configureRope(json),
  };
}

/** A config.json in the format of Llama and Qwen, for the transformers class `architecture`. */
export function describeGated(config: DecoderConfig, architecture: string) {
  const { norm_eps, rope, embd_pdrop, resid_pdrop, ...fields } = config;
  return {
    architectures: [architecture],
    ...fields,
    ...(embd_pdrop > 0 && { embd_pdrop }),
    ...(resid_pdrop > 0 && { resid_pdrop }),
    hidden_act: 'silu',
    rms_norm_eps: norm_eps,
    rope_theta: rope?.rope_theta,
    rope_scaling: rope === undefined ? null : describeScaling(rope),
  };
}

function describeScaling({ rope_theta, ...scaling }: RopeConfig) {
  const { rope_type, factor } = scaling;
  if (rope_type === 'default') return null;
  return rope_type === 'linear' ? { rope_type, factor } : scaling;
}

function configureRope(json: ConfigReader): RopeConfig {
  const nested = json.object('rope_parameters') ?? json.object('rope_scaling') ?? json;
  // Older files use `type`.
  const type = nested.string('rope_type', nested.string('type', 'default'));
  if (type !== 'default' && type !== 'linear' && type !== 'llama3') {
    throw nested.wrong('rope_type', 'default, linear or llama3', type);
  }
  const needed = (key: string, types: readonly string[], unused: number) =>
    types.includes(type) ? nested.number(key) : unused;
  return {
    rope_theta: nested.number('rope_theta', json.number('rope_theta', 10_000)),
    rope_type: type,
    factor: needed('factor', ['linear', 'llama3'], 1),
    low_freq_factor: needed('low_freq_factor', ['llama3'], 1),
    high_freq_factor: needed('high_freq_factor', ['llama3'], 4),
    original_max_position_embeddings: needed('original_max_position_embeddings', ['llama3'], 8192),
  };
}

export function rmsNormOf(context: WeightContext, x: Value, module: string): Value {
  const weight = context.weight(`${module}.weight`, x.shape.slice(-1));
  return rmsNorm(x, weight, context.config.norm_eps);
}

export interface GatedLayerOptions {
  /** Biases of the q, k and v projections. */
  readonly qkvBias: boolean;
  /** RMSNorm of each query and key head before the rotation. */
  readonly qkNorm: boolean;
}

/**
 * The layer of Llama and Qwen: h = x + o(attention(norm(x))), y = h + down(silu(gate(n))·up(n))
 * with n = norm(h).
 */
export function gatedLayer(context: LayerContext, x: Value, options: GatedLayerOptions): Value {
  const { hidden_size, intermediate_size, mlp_bias, attention_bias } = context.config;
  const mixed = selfAttention(context, rmsNormOf(context, x, 'input_layernorm'), options);
  const attended = { out: hidden_size, bias: attention_bias };
  const h = context.addSublayer(
    x,
    context.linear(mixed, 'self_attn.o_proj', attended),
    'self_attn',
  );
  const n = rmsNormOf(context, h, 'post_attention_layernorm');
  const wide = { out: intermediate_size, bias: mlp_bias };
  const gated = mul(
    silu(context.linear(n, 'mlp.gate_proj', wide)),
    context.linear(n, 'mlp.up_proj', wide),
  );
  const narrow = { out: hidden_size, bias: mlp_bias };
  return context.addSublayer(h, context.linear(gated, 'mlp.down_proj', narrow), 'mlp');
}

function selfAttention(
  context: LayerContext,
  n: Value,
  { qkvBias, qkNorm }: GatedLayerOptions,
): Value {
  const { num_attention_heads, num_key_value_heads, head_dim } = context.config;
  const heads = (name: string, count: number) => {
    const module = `self_attn.${name}_proj`;
    const wide = context.linear(n, module, { out: count * head_dim, bias: qkvBias });
    return reshape(wide, [wide.shape[0] as string, count, head_dim]);
  };
  const rotated = (name: string, count: number) => {
    const split = heads(name, count);
    return context.rope(qkNorm ? rmsNormOf(context, split, `self_attn.${name}_norm`) : split);
  };
  return context.attend({
    q: rotated('q', num_attention_heads),
    k: rotated('k', num_key_value_heads),
    v: heads('v', num_key_value_heads),
  });
}
