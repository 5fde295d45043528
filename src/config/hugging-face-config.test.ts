import { expect, test } from 'vitest';
import { readArchitecture } from '../models/decoder/families/index.ts';
import { toHuggingFaceConfig } from './hugging-face-config.ts';
import { resolveModelConfig } from './model-config.ts';

const shape = { vocabSize: 100, hiddenSize: 48, numLayers: 2, numAttentionHeads: 4 };

test('toHuggingFaceConfig() writes gpt2 under its own names', () => {
  const config = resolveModelConfig({ ...shape, modelType: 'gpt2', dropout: 0.2 });
  expect(toHuggingFaceConfig(config)).toEqual({
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    vocab_size: 100,
    n_embd: 48,
    n_inner: 192,
    n_layer: 2,
    n_head: 4,
    n_positions: 2048,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    embd_pdrop: 0.2,
    attn_pdrop: 0.2,
    resid_pdrop: 0.2,
    tie_word_embeddings: true,
    initializer_range: 0.02,
    use_cache: true,
  });
});

test("toHuggingFaceConfig() writes qwen3 under Llama's names", () => {
  const config = resolveModelConfig({ ...shape, numKeyValueHeads: 2, headDim: 16, dropout: 0.2 });
  expect(toHuggingFaceConfig(config)).toEqual({
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    vocab_size: 100,
    hidden_size: 48,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    max_position_embeddings: 2048,
    hidden_act: 'silu',
    rms_norm_eps: 1e-5,
    rope_theta: 1_000_000,
    rope_scaling: null,
    attention_dropout: 0.2,
    attention_bias: false,
    use_sliding_window: false,
    tie_word_embeddings: true,
    initializer_range: 0.02,
    use_cache: true,
  });
});

test.each(['qwen3', 'qwen2', 'llama', 'gpt2'] as const)(
  'a model of %s that is read again has the shape that was asked for',
  (modelType) => {
    const config = resolveModelConfig({ ...shape, modelType, tieWordEmbeddings: false });
    const read = readArchitecture(toHuggingFaceConfig(config)).config;
    expect(read).toMatchObject({
      model_type: modelType,
      vocab_size: 100,
      hidden_size: 48,
      intermediate_size: modelType === 'gpt2' ? 192 : 128,
      num_hidden_layers: 2,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      head_dim: 12,
      norm_eps: 1e-5,
      max_position_embeddings: 2048,
      tie_word_embeddings: false,
    });
    expect(read.rope?.rope_theta).toBe(config.ropeTheta);
  },
);
