import { describe, expect, test } from 'vitest';
import { readArchitecture } from './index.ts';

const gated = {
  vocab_size: 96,
  hidden_size: 32,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
};
const llama = { ...gated, model_type: 'llama' };
const gpt2 = { model_type: 'gpt2', vocab_size: 96, n_embd: 32, n_layer: 2, n_head: 4 };

const read = (json: Record<string, unknown>) => readArchitecture(json).config;

describe('readArchitecture()', () => {
  test('fills in the defaults of transformers for llama', () => {
    expect(read(llama)).toEqual({
      ...llama,
      num_key_value_heads: 4,
      head_dim: 8,
      norm_eps: 1e-6,
      max_position_embeddings: 2048,
      tie_word_embeddings: false,
      attention_bias: false,
      mlp_bias: false,
      embd_pdrop: 0,
      resid_pdrop: 0,
      rope: expect.objectContaining({ rope_theta: 10_000, rope_type: 'default' }),
    });
  });

  test('fills in the defaults of transformers for GPT-2', () => {
    expect(read({ ...gpt2, n_inner: null })).toEqual({
      model_type: 'gpt2',
      vocab_size: 96,
      hidden_size: 32,
      intermediate_size: 128,
      num_hidden_layers: 2,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      head_dim: 8,
      norm_eps: 1e-5,
      max_position_embeddings: 1024,
      tie_word_embeddings: true,
      attention_bias: true,
      mlp_bias: true,
      embd_pdrop: 0.1,
      resid_pdrop: 0.1,
      rope: undefined,
    });
  });

  test('has heads of 128 for Qwen3 at any hidden size', () => {
    expect(read({ ...gated, model_type: 'qwen3' }).head_dim).toBe(128);
    expect(read({ ...gated, model_type: 'qwen2' }).head_dim).toBe(8);
  });

  describe('reads rope', () => {
    const llama3 = {
      factor: 32,
      low_freq_factor: 1,
      high_freq_factor: 2,
      original_max_position_embeddings: 64,
    };

    test.each([
      [
        'as transformers 5 writes it',
        { rope_parameters: { rope_type: 'llama3', rope_theta: 5e5, ...llama3 } },
        { rope_type: 'llama3', rope_theta: 5e5, ...llama3 },
      ],
      [
        'as transformers 4 wrote it',
        { rope_theta: 5e5, rope_scaling: { rope_type: 'llama3', ...llama3 } },
        { rope_type: 'llama3', rope_theta: 5e5, ...llama3 },
      ],
      [
        'as the first versions wrote it',
        { rope_scaling: { type: 'linear', factor: 4 } },
        { rope_type: 'linear', rope_theta: 1e4, factor: 4 },
      ],
      [
        'without scaling',
        { rope_theta: 1e6, rope_scaling: null },
        { rope_type: 'default', rope_theta: 1e6, factor: 1 },
      ],
    ])('%s', (_, fields, expected) => {
      expect(read({ ...llama, ...fields }).rope).toMatchObject(expected);
    });
  });

  describe('rejects', () => {
    const { hidden_size: _, ...sizeless } = llama;
    const family = 'must be one of qwen3, qwen2, llama, gpt2';
    const ropeTypes = 'must be default, linear or llama3';
    const whole = 'must be a whole number ≥ 1';
    test.each([
      ['an unknown family', { model_type: 'bert' }, `"model_type" ${family}, got "bert"`],
      [
        'a family named like a property of every object',
        { model_type: 'constructor' },
        `"model_type" ${family}, got "constructor"`,
      ],
      ['no family', {}, '"model_type" must be a string, got nothing'],
      ['a missing size', sizeless, '"hidden_size" must be a number, got nothing'],
      [
        'a size of the wrong type',
        { ...llama, num_hidden_layers: '2' },
        '"num_hidden_layers" must be a number, got "2"',
      ],
      ['a size of null', { ...llama, vocab_size: null }, '"vocab_size" must be a number, got null'],
      ['a size of 0', { ...llama, vocab_size: 0 }, `"vocab_size" ${whole}, got 0`],
      [
        'more layers than memory has room for',
        { ...llama, num_hidden_layers: 1e9 },
        '"num_hidden_layers" must be at most 10000, got 1000000000',
      ],
      [
        'more GPT-2 layers',
        { ...gpt2, n_layer: 1e9 },
        '"n_layer" must be at most 10000, got 1000000000',
      ],
      ['a fraction', { ...llama, intermediate_size: 1.5 }, `"intermediate_size" ${whole}, got 1.5`],
      [
        'a flag of the wrong type',
        { ...llama, tie_word_embeddings: 'yes' },
        '"tie_word_embeddings" must be a boolean, got "yes"',
      ],
      [
        'heads that do not divide the hidden size',
        { ...llama, hidden_size: 34 },
        `"head_dim" ${whole}, got 8.5`,
      ],
      [
        'GPT-2 heads that do not divide the hidden size',
        { ...gpt2, n_head: 5 },
        '"n_head" must be a divisor of n_embd, 32, got 5',
      ],
      [
        'key heads that do not divide the query heads',
        { ...llama, num_key_value_heads: 3 },
        '"num_key_value_heads" must be a divisor of num_attention_heads, 4, got 3',
      ],
      [
        'an unsupported activation',
        { ...llama, hidden_act: 'gelu' },
        '"hidden_act" must be "silu", got "gelu"',
      ],
      [
        'an unsupported activation of GPT-2',
        { ...gpt2, activation_function: 'relu' },
        '"activation_function" must be "gelu_new", got "relu"',
      ],
      [
        'unscaled attention scores of GPT-2',
        { ...gpt2, scale_attn_weights: false },
        '"scale_attn_weights" must be true, got false',
      ],
      [
        'attention scores of GPT-2 scaled by the layer',
        { ...gpt2, scale_attn_by_inverse_layer_idx: true },
        '"scale_attn_by_inverse_layer_idx" must be false, got true',
      ],
      [
        'a dropout of 1',
        { ...gpt2, resid_pdrop: 1 },
        '"resid_pdrop" must be a number ≥ 0 and < 1, got 1',
      ],
      [
        'a sliding window',
        { ...llama, model_type: 'qwen2', use_sliding_window: true },
        '"use_sliding_window" must be false, got true',
      ],
    ])('%s', (_, json, message) => {
      expect(() => readArchitecture(json, 'm/config.json')).toThrow(
        new TypeError(`Cannot read m/config.json: ${message}`),
      );
    });

    test.each([
      [
        'an unknown rope type',
        { rope_parameters: { rope_type: 'yarn' } },
        `"rope_parameters": "rope_type" ${ropeTypes}, got "yarn"`,
      ],
      [
        'an unknown rope type in an older file',
        { rope_scaling: { type: 'dynamic', factor: 2 } },
        `"rope_scaling": "rope_type" ${ropeTypes}, got "dynamic"`,
      ],
      [
        'linear rope without its factor',
        { rope_scaling: { rope_type: 'linear' } },
        '"rope_scaling": "factor" must be a number, got nothing',
      ],
      [
        'llama3 rope without the original context',
        {
          rope_scaling: {
            rope_type: 'llama3',
            factor: 8,
            low_freq_factor: 1,
            high_freq_factor: 4,
          },
        },
        '"rope_scaling": "original_max_position_embeddings" must be a number, got nothing',
      ],
    ])('%s', (_, fields, message) => {
      expect(() => readArchitecture({ ...llama, ...fields }, 'm/config.json')).toThrow(
        new TypeError(`Cannot read m/config.json ${message}`),
      );
    });

    test('rope that is not an object', () => {
      expect(() => readArchitecture({ ...llama, rope_scaling: 'linear' })).toThrow(
        new TypeError('Cannot read config.json: "rope_scaling" must be an object, got "linear"'),
      );
    });
  });
});
