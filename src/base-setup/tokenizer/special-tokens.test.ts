import { expect, test } from 'vitest';
import { findSpecialIds, findSpecialTokens } from './special-tokens.ts';
import type { TokenIds, TokenizerConfig } from './tokenizer-files.ts';

interface Case {
  /** Special tokens after ten ordinary ones. */
  readonly added?: string[];
  readonly config?: TokenizerConfig;
  readonly generation?: TokenIds;
  readonly model?: TokenIds;
}

function find({ added = [], config = {}, generation = {}, model = {} }: Case) {
  const tokens = added.map((content, i) => ({ content, id: 10 + i, special: true }));
  const vocabulary = {
    size: 10 + added.length,
    added: tokens,
    idOf: (token: string) => tokens.find(({ content }) => content === token)?.id,
  };
  const tokenizer = { added_tokens: tokens, decoder: null, model: {} };
  const files = { tokenizer, config, generation, model, chatTemplate: undefined };
  return findSpecialTokens(files, vocabulary);
}

const qwen = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|vision_pad|>', '<|image_pad|>'];
const qwenConfig = { bos_token: null, eos_token: '<|im_end|>', pad_token: '<|endoftext|>' };

test('PAD is the configured token if it is not EOS', () => {
  const { bosId, eosIds, padId } = find({ added: qwen, config: qwenConfig });
  expect({ bosId, eosIds, padId }).toEqual({ bosId: undefined, eosIds: [12], padId: 10 });
});

test('PAD is Qwen’s <|vision_pad|> if <|endoftext|> is EOS in generation_config.json', () => {
  const generation = { eos_token_id: [12, 10], pad_token_id: 10, bos_token_id: 10 };
  const found = find({ added: qwen, config: qwenConfig, generation });
  expect(found).toMatchObject({ bosId: undefined, eosIds: [12, 10], padId: 13 });
});

test('PAD is the token named pad, even if there are other pad tokens', () => {
  const added = ['</s>', '<|image_pad|>', '[PAD]'];
  expect(find({ added, config: { eos_token: '</s>', pad_token: '</s>' } }).padId).toBe(12);
});

test('PAD is Llama 3’s pad or reserved token if none is configured', () => {
  const llama = ['<|begin_of_text|>', '<|eot_id|>', '<|reserved_special_token_0|>'];
  const config = { bos_token: '<|begin_of_text|>', eos_token: '<|eot_id|>' };
  expect(find({ added: llama, config }).padId).toBe(12);
  expect(find({ added: [...llama, '<|finetune_right_pad_id|>'], config }).padId).toBe(13);
});

test('PAD is Llama 2’s <unk> if there is nothing else', () => {
  const added = ['<unk>', '<s>', '</s>'];
  const config = { bos_token: '<s>', eos_token: { content: '</s>' }, unk_token: '<unk>' };
  expect(find({ added, config })).toMatchObject({ bosId: 11, eosIds: [12], padId: 10 });
});

test('PAD comes from generation_config.json, then config.json, if tokenizer_config.json has none', () => {
  const added = ['</s>', 'a', 'b'];
  const config = { eos_token: '</s>' };
  expect(find({ added, config, model: { pad_token_id: 12 } }).padId).toBe(12);
  const generation = { pad_token_id: 11 };
  expect(find({ added, config, generation, model: { pad_token_id: 12 } }).padId).toBe(11);
  expect(find({ added, config, model: { pad_token_id: -1 } }).padId).toBe(13);
});

test('PAD is beyond vocabulary and embedding if every token is taken', () => {
  const config = { bos_token: '<e>', eos_token: '<e>', unk_token: '<e>', pad_token: '<e>' };
  expect(find({ added: ['<e>'], config }).padId).toBe(11);
  expect(find({ added: ['<e>'], config, model: { vocab_size: 64 } }).padId).toBe(64);
});

test('BOS and EOS come from config.json if no other file has them, as for GPT-2', () => {
  const model = { bos_token_id: 10, eos_token_id: 10 };
  expect(find({ added: ['<e>'], model })).toMatchObject({ bosId: 10, eosIds: [10], padId: 11 });
});

test('EOS must be in the vocabulary', () => {
  expect(() => find({ config: { eos_token: '<e>' } })).toThrow(
    'eos_token must be in the vocabulary, got "<e>"; correct tokenizer_config.json',
  );
});

test('skipSpecialTokens skips special added tokens and those in the config', () => {
  const added = [
    { id: 0, content: '<a>', special: true },
    { id: 1, content: '<b>', special: false },
    { id: 2, content: '<c>' },
    { id: 3, content: '<d>' },
    { id: 4, content: '<e>' },
  ];
  const idOf = (token: string) => added.find(({ content }) => content === token)?.id;
  const config = {
    eos_token: '<c>',
    additional_special_tokens: [{ content: '<d>' }, '<gone>'],
    extra_special_tokens: { image: '<e>' },
  };
  const found = findSpecialIds(added, { config, vocabulary: { size: 5, added, idOf } });
  expect([...found].sort()).toEqual([0, 2, 3, 4]);
});
