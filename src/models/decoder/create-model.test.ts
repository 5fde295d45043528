import { describe, expect, test } from 'vitest';
import { forward } from '../../../test/helpers/model-runs.ts';
import { createModel } from './create-model.ts';
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

  test('draws matrices from N(0, 0.02²), each its own', () => {
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

  test('is the same from the same seed alone', () => {
    const values = (model: typeof base) => [...model.weights.values()].map(({ data }) => data);
    expect(values(createModel(architecture, 7))).toEqual(values(base));
    expect(values(createModel(architecture, 8))).not.toEqual(values(base));
  });

  test('knows nothing yet: every token is about as likely as any other', async () => {
    const [logits = []] = await forward(base, [[1, 2, 3, 4]]);
    await base.dispose();
    for (const row of logits) {
      expect(Math.max(...row) - Math.min(...row)).toBeLessThan(2);
      expect(new Set(row).size).toBeGreaterThan(190);
    }
  });
});
