import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import { saveModel } from '../../src/models/decoder/save-model.ts';

/** Writes a tiny random Qwen3 whose tokens are the bytes of UTF-8, as a Hugging Face folder. */
export async function writeByteLevelModel(folder: string): Promise<void> {
  const { tokenizer, config, vocabSize } = byteLevelTokenizer();
  const architecture = readArchitecture({
    model_type: 'qwen3',
    vocab_size: vocabSize,
    hidden_size: 32,
    intermediate_size: 48,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 8,
    max_position_embeddings: 512,
    tie_word_embeddings: true,
  });
  await saveModel(folder, createModel(architecture, 1));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
}

function byteLevelTokenizer() {
  const special = ['<pad>', '<eos>'];
  const tokens = [...special, ...Array.from({ length: 256 }, (_, byte) => byteCharacter(byte))];
  const tokenizer = {
    version: '1.0',
    added_tokens: special.map((content, id) => ({ id, content, special: true, normalized: false })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: [],
    },
  };
  const config = { eos_token: '<eos>', pad_token: '<pad>' };
  return { tokenizer, config, vocabSize: tokens.length };
}

/** The character that represents a byte in byte-level BPE: itself if printable, otherwise the next
 *  free one from U+0100. */
export function byteCharacter(byte: number): string {
  const isPrintable = (b: number) =>
    (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
  if (isPrintable(byte)) return String.fromCodePoint(byte);
  const before = Array.from({ length: byte }, (_, b) => b).filter((b) => !isPrintable(b)).length;
  return String.fromCodePoint(0x100 + before);
}
