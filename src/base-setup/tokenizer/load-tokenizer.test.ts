import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTokenizer } from './load-tokenizer.ts';

const tiny = fileURLToPath(
  new URL('../../../test/fixtures/tokenizer/tiny-smollm', import.meta.url),
);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proximal-tokenizer-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, value: unknown) =>
  writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
const tokenizerFile = () => join(folder, 'tokenizer.json');

test('loadTokenizer() reads what lies beside tokenizer.json', async () => {
  cpSync(tiny, folder, { recursive: true });
  const plain = await loadTokenizer(folder);
  const [endOfText, imStart, imEnd] = [
    plain.vocabSize - 3,
    plain.vocabSize - 2,
    plain.vocabSize - 1,
  ];
  expect(plain).toMatchObject({ bosId: undefined, eosIds: [], padId: plain.vocabSize });
  write('special_tokens_map.json', { bos_token: '<|endoftext|>', eos_token: '<|endoftext|>' });
  write('tokenizer_config.json', { bos_token: '<|im_start|>' });
  write('generation_config.json', { eos_token_id: [imEnd, endOfText] });
  write('config.json', { eos_token_id: 0, vocab_size: 1000 });
  write('chat_template.jinja', '{{ bos_token }}{{ messages[0].content }}');
  const full = await loadTokenizer(folder);
  expect(full).toMatchObject({ bosId: imStart, eosIds: [endOfText, imEnd], padId: 1000 });
  expect(full.padIsVirtual).toBe(true);
  expect(full.decode([full.padId, imEnd])).toBe('<|im_end|>');
  expect(full.applyChatTemplate([{ role: 'user', content: 'Hi' }])).toBe('<|im_start|>Hi');
});

test('loadTokenizer() adds tokens that only tokenizer_config.json knows', async () => {
  cpSync(tiny, folder, { recursive: true });
  const { vocabSize } = await loadTokenizer(folder);
  const pad = { content: '<pad>', special: true };
  write('tokenizer_config.json', {
    added_tokens_decoder: { [vocabSize]: pad },
    pad_token: '<pad>',
  });
  const tokenizer = await loadTokenizer(folder);
  expect(tokenizer.padId).toBe(vocabSize);
  expect(tokenizer.padIsVirtual).toBe(false);
  expect([...tokenizer.encode('<pad><pad>')]).toEqual([vocabSize, vocabSize]);
  expect(tokenizer.decode([vocabSize], { skipSpecialTokens: true })).toBe('');
});

test('encode() refuses a special token that the vocabulary lacks', async () => {
  const single = [
    { SpecialToken: { id: '<gone>', type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
  ];
  write('tokenizer.json', {
    normalizer: null,
    pre_tokenizer: null,
    post_processor: { type: 'TemplateProcessing', single, pair: [], special_tokens: {} },
    decoder: null,
    added_tokens: [],
    model: { type: 'BPE', vocab: { a: 0 }, merges: [], unk_token: null },
  });
  const tokenizer = await loadTokenizer(folder);
  expect([...tokenizer.encode('aa', { addSpecialTokens: false })]).toEqual([0, 0]);
  expect(() => tokenizer.encode('aa')).toThrow(
    'Cannot encode text: token "<gone>" must be in the vocabulary, got none of that name; correct tokenizer.json',
  );
});

test('loadTokenizer() wants tokenizer.json', async () => {
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot load a tokenizer from ${folder}: it must hold tokenizer.json, got none; save it with a fast tokenizer of transformers`,
  );
});

test('loadTokenizer() wants JSON', async () => {
  write('tokenizer.json', '{"model"');
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot read ${tokenizerFile()}: it must be JSON (`,
  );
  write('tokenizer.json', '[1]');
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot read ${tokenizerFile()}: it must be an object, got an array`,
  );
});

test('loadTokenizer() wants a tokenizer', async () => {
  write('tokenizer.json', {});
  await expect(loadTokenizer(folder)).rejects.toThrow(`Cannot load ${tokenizerFile()}: `);
  write('tokenizer.json', { added_tokens: [], model: { type: 'Nonsense' } });
  await expect(loadTokenizer(folder)).rejects.toThrow(`Cannot load ${tokenizerFile()}: `);
});
