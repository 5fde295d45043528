import { Tokenizer } from '../../src/base-setup/tokenizer/index.ts';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { MARK, vocabulary } from './words.ts';

const SPECIAL = ['<unk>', '<pad>', '<eos>'];

/** Initial weights are N(0, 0.02²), which makes the next word almost uniform. Scaled by this, a word
 *  has a few likely successors: an entropy of 2.8 nats instead of 4. */
const WEIGHT_SCALE = 15;

/** A random two-layer Qwen3 whose tokens are the words of the tasks. */
export function makeBase(seed: number): LoadedModel {
  const tokens = [...SPECIAL, MARK, ...vocabulary];
  const architecture = readArchitecture({
    model_type: 'qwen3',
    vocab_size: tokens.length,
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 8,
    max_position_embeddings: 64,
    tie_word_embeddings: true,
  });
  const base = createModel(architecture, seed);
  for (const { data, shape } of base.weights.values()) {
    if (shape.length > 1) data.set(data.map((weight) => WEIGHT_SCALE * weight));
  }
  return { base, tokenizer: makeTokenizer(tokens), folder: 'random' };
}

/** Splits at spaces. */
function makeTokenizer(tokens: readonly string[]): Tokenizer {
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const asWritten = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const tokenizer = {
    added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true, ...asWritten })),
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab, unk_token: '<unk>' },
  };
  const config = { unk_token: '<unk>', pad_token: '<pad>', eos_token: '<eos>' };
  return new Tokenizer({ tokenizer, config, model: {}, generation: {}, chatTemplate: undefined });
}
