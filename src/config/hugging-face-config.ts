import type { ModelConfig } from './model-config.ts';

type Json = Readonly<Record<string, unknown>>;

/** The config.json by which transformers, and `readArchitecture`, know a model of this shape. */
export function toHuggingFaceConfig(config: ModelConfig): Json {
  return {
    ...families[config.modelType](config),
    model_type: config.modelType,
    vocab_size: config.vocabSize,
    tie_word_embeddings: config.tieWordEmbeddings,
    initializer_range: 0.02,
    use_cache: true,
  };
}

const families: Readonly<Record<ModelConfig['modelType'], (config: ModelConfig) => Json>> = {
  qwen3: (config) => ({
    architectures: ['Qwen3ForCausalLM'],
    ...describeGated(config),
    attention_bias: false,
    use_sliding_window: false,
  }),
  qwen2: (config) => ({
    architectures: ['Qwen2ForCausalLM'],
    ...describeGated(config),
    use_sliding_window: false,
  }),
  llama: (config) => ({
    architectures: ['LlamaForCausalLM'],
    ...describeGated(config),
    attention_bias: false,
    mlp_bias: false,
  }),
  gpt2: (config) => ({
    architectures: ['GPT2LMHeadModel'],
    n_embd: config.hiddenSize,
    n_inner: config.intermediateSize,
    n_layer: config.numLayers,
    n_head: config.numAttentionHeads,
    n_positions: config.maxPositionEmbeddings,
    activation_function: 'gelu_new',
    layer_norm_epsilon: config.layerNormEps,
    embd_pdrop: config.dropout,
    attn_pdrop: config.dropout,
    resid_pdrop: config.dropout,
  }),
};

/** What Llama's and Qwen's files have in common. */
function describeGated(config: ModelConfig): Json {
  return {
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.numLayers,
    num_attention_heads: config.numAttentionHeads,
    num_key_value_heads: config.numKeyValueHeads,
    head_dim: config.headDim,
    max_position_embeddings: config.maxPositionEmbeddings,
    hidden_act: 'silu',
    rms_norm_eps: config.layerNormEps,
    rope_theta: config.ropeTheta,
    rope_scaling: null,
    attention_dropout: config.dropout,
  };
}
