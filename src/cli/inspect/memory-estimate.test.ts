import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from '../../config/ppo-config.ts';
import { engineBytes } from '../../generation/decode-weights.ts';
import { type Architecture, readArchitecture } from '../../models/decoder/families/index.ts';
import { countParameters, loraConfigs } from '../../models/decoder/parameter-counts.ts';
import { MemoryEstimator } from '../../ppo-trainer/memory-estimate.ts';
import { layerActivationBytes } from '../../training/activation-bytes.ts';
import { estimateMemory } from './memory-estimate.ts';

const llama = (changes: object = {}): Architecture =>
  readArchitecture({
    model_type: 'llama',
    vocab_size: 10,
    hidden_size: 4,
    intermediate_size: 6,
    num_hidden_layers: 3,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    tie_word_embeddings: true,
    ...changes,
  });
const gpt2 = readArchitecture({
  model_type: 'gpt2',
  vocab_size: 10,
  n_embd: 4,
  n_layer: 1,
  n_head: 2,
  n_positions: 8,
});

// q 4·4, k and v 2·4, o 4·4; gate, up and down 6·4; two norms of 4.
const matrices = 16 + 8 + 8 + 16 + 3 * 24;
const perLayer = matrices + 2 * 4;

describe('countParameters()', () => {
  test('counts a tied llama', () => {
    expect(countParameters(llama())).toEqual({
      total: 3 * perLayer + 4 + 40,
      embedding: 40,
      head: 0,
      perLayer,
      lora: {
        // r (in + out) of q, k, v and o.
        attention: 3 * 16 * (8 + 6 + 6 + 8),
        allLinear: 3 * 16 * (8 + 6 + 6 + 8 + 3 * 10),
      },
    });
  });

  test('counts an output head of its own', () => {
    const counts = countParameters(llama({ tie_word_embeddings: false }));
    expect(counts).toMatchObject({ total: 3 * perLayer + 4 + 80, embedding: 40, head: 40 });
  });

  test("counts gpt2's learned positions, biases and joint projection", () => {
    // c_attn 4·12 + 12, c_proj 4·4 + 4, c_fc 4·16 + 16, c_proj 16·4 + 4, two norms of 4 + 4.
    const layer = 60 + 20 + 80 + 68 + 16;
    expect(countParameters(gpt2)).toEqual({
      total: layer + 8 + 40 + 32,
      embedding: 40 + 32,
      head: 0,
      perLayer: layer,
      lora: { attention: 16 * (16 + 8), allLinear: 16 * (16 + 8 + 20 + 20) },
    });
  });
});

describe('engineBytes()', () => {
  test('counts a copy of what decoding multiplies with; in 8 bits, a scale for each output', () => {
    const norms = 4 * (3 * 8 + 4);
    // Outputs of q, k, v, o, gate, up, down; of the head.
    const outputs = 3 * (4 + 2 + 2 + 4 + 6 + 6 + 4) + 10;
    expect(engineBytes(llama())).toEqual({
      f32: 4 * (3 * matrices + 40) + norms,
      'f32-feeds': 0,
      int8: 3 * matrices + 40 + 4 * outputs + norms,
    });
  });

  test("counts gpt2's transposed weights like any other", () => {
    const layer = 4 * (60 + 20 + 80 + 68 + 16);
    // Of c_attn, c_proj, c_fc, c_proj and the head; then biases, norms, the final norm.
    const outputs = 12 + 4 + 16 + 4 + 10;
    const weights = 48 + 16 + 64 + 64 + 40;
    expect(engineBytes(gpt2)).toEqual({
      f32: layer + 4 * (40 + 8),
      'f32-feeds': 0,
      int8: weights + 4 * outputs + 4 * (12 + 4 + 16 + 4) + 4 * 16 + 4 * 8,
    });
  });
});

describe('layerActivationBytes()', () => {
  const bytes = (save: 'none' | 'matmul' | 'all', batch = 4) =>
    layerActivationBytes(llama(), {
      lora: loraConfigs.attention,
      save,
      tokens: { batch, length: 1024 / batch },
    });

  test('counts the input alone', () => {
    expect(bytes('none')).toBe(4 * 1024 * 4);
  });

  test('counts products with weights', () => {
    // Input 4; q 4, k 2, v 2; attention 4; four times A·x 16; residual 4; gate 6, up 6.
    expect(bytes('matmul')).toBe(4 * 1024 * (4 + 8 + 4 + 64 + 4 + 12));
  });

  test("counts attention's weights, which grow with the length of texts, where all is saved", () => {
    // Two heads: 1024 · 512 fewer where texts are 512 long instead of 1024.
    expect(bytes('all', 1) - bytes('all', 2)).toBe(4 * 2 * 1024 * 512);
  });
});

describe('estimateMemory()', () => {
  const architecture = llama();
  const parameters = countParameters(architecture);
  const memory = estimateMemory(architecture, parameters);
  const adapter = 4 * parameters.lora.attention;

  test('gives each role its adapter, and what is trained its gradients and moments', () => {
    const head = 4 * 4;
    const none = { weights: 0, gradients: 0, optimizer: 0, total: 0 };
    const trained = (weights: number) => ({
      weights,
      gradients: weights,
      optimizer: 2 * weights,
      total: 4 * weights,
    });
    expect(memory.roles).toEqual({
      reference: none,
      policy: trained(adapter),
      value: trained(adapter + head),
      reward: { ...none, weights: adapter + head, total: adapter + head },
    });
  });

  test('counts keys and values of every layer', () => {
    // Keys and values, 3 layers, one head of 2, float32.
    expect(memory.kvCache).toEqual({ perToken: 2 * 3 * 2 * 4, perSequence: 256 * 48 });
  });

  test('counts what is held while a model is trained', () => {
    const { base, activations, layerAtWork, logits } = memory;
    expect(base).toBe(4 * parameters.total);
    expect(logits).toBe(2 * 4 * 1024 * 10);
    expect(activations.none).toBe(3 * 4 * 1024 * 4);
    expect(activations.all).toBe(3 * layerAtWork);
  });

  test('foresees for PPO what a run of the same size is planned with', () => {
    const { rolloutEngine, ppo } = memory;
    const config = resolvePPOConfig({ batchSize: 4, maxNewTokens: 128, rolloutPrecision: 'int8' });
    const run = { config, promptLengths: [128], rewardModels: 1 };
    const { rollout, update } = new MemoryEstimator(architecture, run).estimate(config);
    expect([ppo.rollout.int8, ppo.update.int8]).toEqual([rollout, update]);
    expect(ppo.update.f32 - ppo.update['f32-feeds']).toBe(rolloutEngine.f32);
  });

  test('holds logits of a large vocabulary in parts', () => {
    const large = llama({ vocab_size: 151_936 });
    expect(estimateMemory(large, countParameters(large)).logits).toBe(2 * 4 * 2 ** 20);
  });
});
