import { Tokenizer } from '../../src/base-setup/tokenizer/index.ts';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { byteCharacter } from '../../test/helpers/byte-level-model.ts';

const SPECIAL = ['<pad>', '<eos>', '<user>', '<assistant>', '<tool>'];
/** The parts of a call are one token each. */
const PARTS = [
  '<tool_call>',
  '</tool_call>',
  '{"name": "calculator", "arguments": {"expression": "',
  '"}}',
];
const BYTES = Array.from({ length: 256 }, (_, byte) => byteCharacter(byte));

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<' ~ message.role ~ '>' ~ message.content ~ '<eos>' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/** An untrained two-layer Qwen3 whose tokens are bytes and the parts of a call, with a chat template. */
export function makeCalculatorModel(seed: number): LoadedModel {
  const tokens = [...SPECIAL, ...PARTS, ...BYTES];
  const architecture = readArchitecture({
    model_type: 'qwen3',
    vocab_size: tokens.length,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    head_dim: 16,
    max_position_embeddings: 256,
    tie_word_embeddings: true,
  });
  return { base: createModel(architecture, seed), tokenizer: makeTokenizer(tokens), folder: '' };
}

function makeTokenizer(tokens: readonly string[]): Tokenizer {
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const asWritten = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const tokenizer = {
    added_tokens: [...SPECIAL, ...PARTS].map((content, id) => ({
      id,
      content,
      special: id < SPECIAL.length,
      ...asWritten,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab, merges: [] },
  };
  const config = { pad_token: '<pad>', eos_token: '<eos>', chat_template: CHAT_TEMPLATE };
  return new Tokenizer({ tokenizer, config, model: {}, generation: {}, chatTemplate: undefined });
}
