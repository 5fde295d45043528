import { Tokenizer } from '../../src/base-setup/tokenizer/index.ts';
import type { BaseModel } from '../../src/models/decoder/base-model.ts';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';

/** A random Qwen3, by default of two layers, whose logits vary enough to generate different texts. */
export function tinyModel(seed = 0, { layers = 2 } = {}): BaseModel {
  const architecture = readArchitecture({
    model_type: 'qwen3',
    vocab_size: 60,
    hidden_size: 32,
    intermediate_size: 48,
    num_hidden_layers: layers,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 8,
    max_position_embeddings: 96,
    tie_word_embeddings: true,
  });
  const base = createModel(architecture, seed);
  for (const { data, shape } of base.weights.values()) {
    if (shape.length > 1) for (let i = 0; i < data.length; i++) data[i] = data[i]! * 15;
  }
  return base;
}

/** A tokenizer of words with one or two letters and those of the README's prompt, split at spaces. */
export function tinyTokenizer(): Tokenizer {
  const { 'tokenizer.json': tokenizer, 'tokenizer_config.json': config } = tinyTokenizerFiles();
  return new Tokenizer({ tokenizer, config, model: {}, generation: {}, chatTemplate: undefined });
}

/** The same tokenizer as files of a model's folder. */
function tinyTokenizerFiles() {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const words = [...letters, ...[...letters].map((letter) => `${letter}x`)];
  const tokens = ['<unk>', '<pad>', ...words, '<eos>', 'The', 'capital', 'of', 'France', 'is'];
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const special = (content: string) => ({
    id: vocab[content]!,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  return {
    'tokenizer.json': {
      version: '1.0',
      added_tokens: ['<unk>', '<pad>', '<eos>'].map(special),
      normalizer: null,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      post_processor: null,
      decoder: null,
      model: { type: 'WordLevel', vocab, unk_token: '<unk>' },
    },
    'tokenizer_config.json': { eos_token: '<eos>', pad_token: '<pad>', unk_token: '<unk>' },
  };
}
