import { expect, test } from 'vitest';
import { resolveModelConfig } from '../../config/model-config.ts';
import { dropoutFields, freshArchitecture } from './fresh-architecture.ts';

const shape = { vocabSize: 100, hiddenSize: 48, numLayers: 2, numAttentionHeads: 4 };

test.each(['qwen3', 'qwen2', 'llama', 'gpt2'] as const)(
  'a fresh model of %s has the shape that was asked for',
  (modelType) => {
    const config = resolveModelConfig({ ...shape, modelType, tieWordEmbeddings: false });
    const fresh = freshArchitecture(config).config;
    expect(fresh).toMatchObject({
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
    expect(fresh.rope?.rope_theta).toBe(config.ropeTheta);
  },
);

test('fewer key heads and a head width of its own are kept', () => {
  const config = resolveModelConfig({ ...shape, numKeyValueHeads: 2, headDim: 16 });
  expect(freshArchitecture(config).config).toMatchObject({ num_key_value_heads: 2, head_dim: 16 });
});

test('dropout is written under each family’s names', () => {
  const fields = (modelType: 'qwen3' | 'gpt2') =>
    dropoutFields(resolveModelConfig({ modelType, dropout: 0.2 }));
  expect(fields('qwen3')).toEqual({ attention_dropout: 0.2 });
  expect(fields('gpt2')).toEqual({ embd_pdrop: 0.2, attn_pdrop: 0.2, resid_pdrop: 0.2 });
});
