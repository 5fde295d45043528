import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { engineBytes } from '../generation/decode-weights.ts';
import { type Architecture, readArchitecture } from '../models/decoder/families/index.ts';
import { countParameters, loraConfigs } from '../models/decoder/parameter-counts.ts';
import { layerActivationBytes } from '../training/activation-bytes.ts';
import { MemoryEstimator } from '../training/memory-estimate.ts';
import { estimateMemory, formatReport } from './inspect.ts';

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

  test('counts a separate output head', () => {
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
  test('counts a copy of the decoding weights, in 8 bits with a scale per output', () => {
    const norms = 4 * (3 * 8 + 4);
    // Outputs of q, k, v, o, gate, up, down; of the head.
    const outputs = 3 * (4 + 2 + 2 + 4 + 6 + 6 + 4) + 10;
    expect(engineBytes(llama())).toEqual({
      f32: 4 * (3 * matrices + 40) + norms,
      'f32-feeds': 0,
      int8: 3 * matrices + 40 + 4 * outputs + norms,
      'int8-packed': 3 * matrices + 40 + 4 * outputs + norms,
    });
  });

  test("counts gpt2's transposed weights like others", () => {
    const layer = 4 * (60 + 20 + 80 + 68 + 16);
    // Of c_attn, c_proj, c_fc, c_proj and the head; then biases, norms, the final norm.
    const outputs = 12 + 4 + 16 + 4 + 10;
    const weights = 48 + 16 + 64 + 64 + 40;
    expect(engineBytes(gpt2)).toEqual({
      f32: layer + 4 * (40 + 8),
      'f32-feeds': 0,
      int8: weights + 4 * outputs + 4 * (12 + 4 + 16 + 4) + 4 * 16 + 4 * 8,
      'int8-packed': weights + 4 * outputs + 4 * (12 + 4 + 16 + 4) + 4 * 16 + 4 * 8,
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

  test('counts only the input for none', () => {
    expect(bytes('none')).toBe(4 * 1024 * 4);
  });

  test('counts products with weights for matmul', () => {
    // Input 4; q 4, k 2, v 2; attention 4; four times A·x 16; residual 4; gate 6, up 6.
    expect(bytes('matmul')).toBe(4 * 1024 * (4 + 8 + 4 + 64 + 4 + 12));
  });

  test('counts attention weights, which grow with the length of texts, for all', () => {
    // Two heads: 1024 · 512 fewer if texts are 512 long instead of 1024.
    expect(bytes('all', 1) - bytes('all', 2)).toBe(4 * 2 * 1024 * 512);
  });
});

describe('estimateMemory()', () => {
  const architecture = llama();
  const parameters = countParameters(architecture);
  const memory = estimateMemory(architecture, parameters);
  const adapter = 4 * parameters.lora.attention;

  test('counts an adapter per role, and gradients and moments for trained ones', () => {
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

  test('counts the keys and values of all layers', () => {
    // Keys and values, 3 layers, one head of 2, float32.
    expect(memory.kvCache).toEqual({ perToken: 2 * 3 * 2 * 4, perSequence: 256 * 48 });
  });

  test('counts activations and logits', () => {
    const { base, activations, layerAtWork, logits } = memory;
    expect(base).toBe(4 * parameters.total);
    expect(logits).toBe(2 * 4 * 1024 * 10);
    expect(activations.none).toBe(3 * 4 * 1024 * 4);
    expect(activations.all).toBe(3 * layerAtWork);
  });

  test('estimates PPO with the estimator that plans runs', () => {
    const { rolloutEngine, ppo } = memory;
    const config = resolvePPOConfig({ batchSize: 4, maxNewTokens: 128, rolloutPrecision: 'int8' });
    const run = { config, promptLengths: [128], rewardModels: 1 };
    const { rollout, update } = new MemoryEstimator(architecture, run).estimate(config);
    expect([ppo.rollout.int8, ppo.update.int8]).toEqual([rollout, update]);
    expect(ppo.update.f32 - ppo.update['f32-feeds']).toBe(rolloutEngine.f32);
  });

  test('counts a copy of an int8 base for packed rollouts only', () => {
    const { rolloutEngine, ppo } = estimateMemory(architecture, parameters, {
      basePrecision: 'int8',
    });
    expect(rolloutEngine.int8).toBe(0);
    expect(rolloutEngine['int8-packed']).toBe(memory.rolloutEngine.int8);
    expect(ppo.update['int8-packed'] - ppo.update.int8).toBe(rolloutEngine['int8-packed']);
  });

  test('limits the logits of a large vocabulary to a chunk', () => {
    const large = llama({ vocab_size: 151_936 });
    expect(estimateMemory(large, countParameters(large)).logits).toBe(2 * 4 * 2 ** 20);
  });
});

/** A small model in the shape of Llama 3.2. */
const small = readArchitecture({
  model_type: 'llama',
  vocab_size: 1000,
  hidden_size: 64,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 131_072,
  rope_theta: 500_000,
  rope_scaling: {
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  },
});

test('formatReport() prints aligned tables', () => {
  const parameters = countParameters(small);
  const report = {
    model: 'owner/tiny',
    folder: '/cache/tiny',
    architecture: small.config,
    parameters,
    files: [
      { name: 'model-00001-of-00002.safetensors', bytes: 300_000, dtypes: { BF16: 300_000 } },
      { name: 'model-00002-of-00002.safetensors', bytes: 5000, dtypes: { BF16: 4000, F32: 1000 } },
    ],
    memory: estimateMemory(small, parameters),
    devices: [
      { device: 'cpu', isUsable: true, detail: '2 threads' },
      { device: 'webgpu', isUsable: false, detail: 'No supported adapters' },
    ] as const,
  };
  const output = { write: () => true };
  expect(formatReport(report, output)).toMatchInlineSnapshot(`
    "owner/tiny
    /cache/tiny

    Architecture
      family       llama
      layers       2
      hidden size  64
      MLP size     256
      heads        4 query, 2 key–value, size 16
      vocabulary   1,000 tokens
      output head  separate matrix
      context      131,072 tokens
      positions    rotary, theta 500,000, llama3 scaling by 32

    Parameters
      total                      251 k
      embedding                 64.0 k  25.48 %
      output head               64.0 k  25.48 %
      per layer                 61.6 k  × 2
      LoRA r=16 on q, k, v, o   14.3 k  5.71 % of the model
      LoRA r=16 on all linears  45.1 k  17.94 % of the model

    Files
      model-00001-of-00002.safetensors   300 kB  BF16
      model-00002-of-00002.safetensors  5.00 kB  BF16, F32
      total                              305 kB

    Model memory
                         weights  gradients  optimiser    total
      base, shared, f32  1.00 MB          –          –  1.00 MB
      reference                –          –          –        –
      policy             57.3 kB    57.3 kB     115 kB   229 kB
      value              57.6 kB    57.6 kB     115 kB   230 kB
      reward             57.6 kB          –          –  57.6 kB

    Generation memory
      engine, f32        749 kB  packed copy, exact
      engine, f32-feeds       –  uses the base itself
      engine, int8       198 kB  fastest, approximate
      keys and values     512 B  per token
                         131 kB  per text of 256 tokens

    Training memory for 1,024 tokens
      save: none     524 kB  layer inputs only
      save: matmul  7.34 MB  plus products with weights (default)
      save: all     18.9 MB  plus everything that gradients use
      active layer  9.44 MB  in each case
      logits        8.19 MB  in chunks, with their gradient

    Total memory of PPO with 4 texts of 256 tokens
      rollout precision     f32  f32-feeds    int8
      during generation  203 MB     203 MB  203 MB
      during training    240 MB     240 MB  249 MB
      Includes Node and ONNX Runtime. Use train --dry-run to estimate your own run.

    Devices
      cpu     2 threads
      webgpu  not usable: No supported adapters"
  `);
});
