import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '../../src/base-setup/tokenizer/index.ts';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import { saveModel } from '../../src/models/decoder/save-model.ts';
import type { BaseModel, LoadedModel } from '../../src/models/index.ts';
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
const TOKENS = [...SPECIAL, ...PARTS, ...BYTES];

/** Fresh weights are N(0, 0.02²), too small for such a narrow model. */
const WEIGHT_SCALE = 5;

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<' ~ message.role ~ '>' ~ message.content ~ '<eos>' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/** An untrained two-layer Llama whose tokens are bytes and the parts of a call, with a chat template. */
export function makeCalculatorModel(seed: number): LoadedModel {
  const architecture = readArchitecture({
    model_type: 'llama',
    vocab_size: TOKENS.length,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    head_dim: 16,
    max_position_embeddings: 256,
    rope_theta: 100,
    tie_word_embeddings: true,
  });
  const base = createModel(architecture, seed);
  for (const { data, shape } of base.weights.values()) {
    if (shape.length > 1) data.set(data.map((weight) => WEIGHT_SCALE * weight));
  }
  const files = { ...tokenizerFiles(), model: {}, generation: {}, chatTemplate: undefined };
  return { base, tokenizer: new Tokenizer(files), folder: '' };
}

/** Writes the model as a Hugging Face folder. */
export async function saveCalculatorModel(folder: string, base: BaseModel): Promise<void> {
  await saveModel(folder, base);
  const { tokenizer, config } = tokenizerFiles();
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
}

function tokenizerFiles() {
  const vocab = Object.fromEntries(TOKENS.map((token, id) => [token, id]));
  const asWritten = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const tokenizer = {
    version: '1.0',
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
  return { tokenizer, config };
}
