import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const words = ['<pad>', '<eos>', '<unk>', ...'the a cat dog sees likes and runs'.split(' ')];

/** Writes a tokenizer whose tokens are eight words, with a chat template; returns the folder. */
export function writeTinyTokenizer(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const added = words
    .slice(0, 3)
    .map((content, id) => ({ id, content, special: true, normalized: false }));
  const tokenizer = {
    version: '1.0',
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: null,
    decoder: null,
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      unk_token: '<unk>',
    },
  };
  const config = {
    pad_token: '<pad>',
    eos_token: '<eos>',
    unk_token: '<unk>',
    chat_template: '{% for m in messages %}{{ m.content }} and {% endfor %}',
  };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
  return folder;
}
