import { geluTanh, layerNorm, reshape, split, type Value } from '../../../engine/graph/index.ts';
import type { LayerContext, WeightContext } from '../layer-context.ts';
import type { Family } from './family.ts';

/** GPT-2: LayerNorm, learned positions, one projection for q, k and v, weights as [in, out]. */
export const gpt2: Family = {
  names: {
    embedding: 'transformer.wte.weight',
    positions: 'transformer.wpe.weight',
    layer: (index) => `transformer.h.${index}.`,
    finalNorm: 'transformer.ln_f',
    head: 'lm_head.weight',
    tokenClassifier: 'classifier',
  },
  configure(json) {
    json.expect('activation_function', 'gelu_new');
    json.expect('scale_attn_weights', true);
    json.expect('scale_attn_by_inverse_layer_idx', false);
    const hidden_size = json.size('n_embd');
    const heads = json.size('n_head');
    if (hidden_size % heads !== 0)
      throw json.wrong('n_head', `a divisor of n_embd, ${hidden_size}`);
    return {
      model_type: json.string('model_type'),
      vocab_size: json.size('vocab_size'),
      hidden_size,
      intermediate_size: json.size('n_inner', 4 * hidden_size),
      num_hidden_layers: json.layers('n_layer'),
      num_attention_heads: heads,
      num_key_value_heads: heads,
      head_dim: hidden_size / heads,
      norm_eps: json.number('layer_norm_epsilon', 1e-5),
      max_position_embeddings: json.size('n_positions', 1024),
      tie_word_embeddings: json.boolean('tie_word_embeddings', true),
      attention_bias: true,
      mlp_bias: true,
      embd_pdrop: json.dropout('embd_pdrop', 0.1),
      resid_pdrop: json.dropout('resid_pdrop', 0.1),
      rope: undefined,
    };
  },
  describe: (config) => ({
    architectures: ['GPT2LMHeadModel'],
    model_type: config.model_type,
    vocab_size: config.vocab_size,
    n_embd: config.hidden_size,
    n_inner: config.intermediate_size,
    n_layer: config.num_hidden_layers,
    n_head: config.num_attention_heads,
    n_positions: config.max_position_embeddings,
    layer_norm_epsilon: config.norm_eps,
    tie_word_embeddings: config.tie_word_embeddings,
    activation_function: 'gelu_new',
    embd_pdrop: config.embd_pdrop,
    resid_pdrop: config.resid_pdrop,
  }),
  layer(context, x) {
    const { hidden_size, intermediate_size } = context.config;
    const linear = (y: Value, module: string, out: number) =>
      context.linear(y, module, { out, bias: true, transposed: true });
    const mixed = selfAttention(context, layerNormOf(context, x, 'ln_1'), linear);
    const h = context.addSublayer(x, linear(mixed, 'attn.c_proj', hidden_size), 'attn');
    const wide = geluTanh(linear(layerNormOf(context, h, 'ln_2'), 'mlp.c_fc', intermediate_size));
    return context.addSublayer(h, linear(wide, 'mlp.c_proj', hidden_size), 'mlp');
  },
  finalNorm: (context, x) => layerNormOf(context, x, 'transformer.ln_f'),
};

type Linear = (x: Value, module: string, out: number) => Value;

function selfAttention(context: LayerContext, n: Value, linear: Linear): Value {
  const { hidden_size, num_attention_heads: heads, head_dim } = context.config;
  const joined = linear(n, 'attn.c_attn', 3 * hidden_size);
  const [q, k, v] = split(joined, [hidden_size, hidden_size, hidden_size]).map((part) =>
    reshape(part, [part.shape[0] as string, heads, head_dim]),
  ) as [Value, Value, Value];
  return context.attend({ q, k, v });
}

function layerNormOf(context: WeightContext, x: Value, module: string): Value {
  const shape = x.shape.slice(-1);
  return layerNorm(x, {
    weight: context.weight(`${module}.weight`, shape),
    bias: context.weight(`${module}.bias`, shape),
    epsilon: context.config.norm_eps,
  });
}
