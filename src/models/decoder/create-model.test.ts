import { describe, expect, test } from 'vitest';
import { forward } from '../../../test/helpers/model-runs.ts';
import { resolveModelConfig } from '../../config/model-config.ts';
import { attentionDropoutField, createModel, freshArchitecture } from './create-model.ts';
import { readArchitecture } from './families/index.ts';
import { weightShapes } from './weight-shapes.ts';

const gpt2 = readArchitecture({
  model_type: 'gpt2',
  vocab_size: 200,
  n_embd: 64,
  n_layer: 2,
  n_head: 4,
});
const llama = readArchitecture({
  model_type: 'llama',
  vocab_size: 200,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  attention_bias: true,
});

describe.each([
  ['gpt2', gpt2],
  ['llama', llama],
])('createModel() of a %s', (_, architecture) => {
  const base = createModel(architecture, 7);

  test('has every weight of the architecture', () => {
    const shapes = [...base.weights].map(([name, { shape }]) => [name, shape]);
    expect(shapes).toEqual([...weightShapes(architecture)]);
  });

  test('samples each matrix separately from N(0, 0.02²)', () => {
    const matrices = [...base.weights].filter(([, { shape }]) => shape.length === 2);
    for (const [name, { data }] of matrices) {
      const mean = data.reduce((sum, x) => sum + x, 0) / data.length;
      const variance = data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / data.length;
      expect(Math.abs(mean), name).toBeLessThan((5 * 0.02) / Math.sqrt(data.length));
      expect(Math.sqrt(variance) / 0.02, name).toBeCloseTo(1, 1);
    }
    const firsts = matrices.map(([, { data }]) => data[0]);
    expect(new Set(firsts).size).toBe(matrices.length);
  });

  test('starts norms at 1 and biases at 0', () => {
    const vectors = [...base.weights].filter(([, { shape }]) => shape.length === 1);
    expect(vectors.some(([name]) => name.endsWith('.bias'))).toBe(true);
    for (const [name, { data }] of vectors) {
      const start = name.endsWith('.bias') ? 0 : 1;
      expect(new Set(data), name).toEqual(new Set([start]));
    }
  });

  test('depends only on the seed', () => {
    const values = (model: typeof base) => [...model.weights.values()].map(({ data }) => data);
    expect(values(createModel(architecture, 7))).toEqual(values(base));
    expect(values(createModel(architecture, 8))).not.toEqual(values(base));
  });

  test('predicts all tokens with about equal probability', async () => {
    const [logits = []] = await forward(base, [[1, 2, 3, 4]]);
    await base.dispose();
    for (const row of logits) {
      expect(Math.max(...row) - Math.min(...row)).toBeLessThan(2);
      expect(new Set(row).size).toBeGreaterThan(190);
    }
  });
});

const shape = { vocabSize: 100, hiddenSize: 48, numLayers: 2, numAttentionHeads: 4 };

test.each(['qwen3', 'qwen2', 'llama', 'gpt2'] as const)(
  'a fresh model of %s has the requested shape',
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

test('respects fewer key heads and a custom head width', () => {
  const config = resolveModelConfig({ ...shape, numKeyValueHeads: 2, headDim: 16 });
  expect(freshArchitecture(config).config).toMatchObject({ num_key_value_heads: 2, head_dim: 16 });
});

test.each([
  ['qwen3', 'attention_dropout'],
  ['gpt2', 'attn_pdrop'],
] as const)('dropout of %s is in its architecture and in config.json', (modelType, field) => {
  const config = resolveModelConfig({ ...shape, modelType, dropout: 0.2 });
  const { family, config: fresh } = freshArchitecture(config);
  const fields = { embd_pdrop: 0.2, resid_pdrop: 0.2 };
  expect(fresh).toMatchObject(fields);
  expect(family.describe(fresh)).toMatchObject(fields);
  expect(attentionDropoutField(config)).toEqual({ [field]: 0.2 });
});
