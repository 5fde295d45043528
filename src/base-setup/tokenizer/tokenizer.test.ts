import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDecoder } from './decoder.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import { type DecodeOptions, StreamingDecoder, type TokenReader } from './tokenizer.ts';

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

test('loadTokenizer() reads the files next to tokenizer.json', async () => {
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

test('loadTokenizer() adds tokens that are only in tokenizer_config.json', async () => {
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

test('encode() rejects a special token that is not in the vocabulary', async () => {
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
    'Cannot encode text: token "<gone>" must be in the vocabulary, got no such token; correct tokenizer.json',
  );
});

test('loadTokenizer() requires tokenizer.json', async () => {
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot load a tokenizer from ${folder}: it must contain tokenizer.json, got none; save it with a fast tokenizer of transformers`,
  );
});

test('loadTokenizer() requires JSON', async () => {
  write('tokenizer.json', '{"model"');
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot read ${tokenizerFile()}: it must be JSON (`,
  );
  write('tokenizer.json', '[1]');
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot read ${tokenizerFile()}: it must be an object, got an array`,
  );
});

test('loadTokenizer() requires a valid tokenizer', async () => {
  write('tokenizer.json', {});
  await expect(loadTokenizer(folder)).rejects.toThrow(`Cannot load ${tokenizerFile()}: `);
  write('tokenizer.json', { added_tokens: [null], model: { type: 'BPE', vocab: {}, merges: [] } });
  await expect(loadTokenizer(folder)).rejects.toThrow(
    `Cannot load ${tokenizerFile()}: it and the files next to it must have the parts that transformers writes, got others (`,
  );
  write('tokenizer.json', { added_tokens: [], model: { type: 'Nonsense' } });
  await expect(loadTokenizer(folder)).rejects.toThrow(`Cannot load ${tokenizerFile()}: `);
});

const llama = makeDecoder({
  type: 'Sequence',
  decoders: [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ],
});
const qwen = makeDecoder({ type: 'ByteLevel' });

/** The text of each token, and the text at the end. */
function stream(decoderStage: TokenReader['decoderStage'], tokens: string[], after: string[] = []) {
  const all = [...after, ...tokens];
  const readToken = (id: number, _: DecodeOptions) => all[id];
  const before = after.map((_, i) => i);
  const decoder = new StreamingDecoder({ decoderStage, readToken }, { after: before });
  return [...tokens.map((_, i) => decoder.push(after.length + i)), decoder.finish()];
}

describe('bytes in a byte-level token', () => {
  test('wait for the rest of their character', () => {
    // € is E2 82 AC, whose bytes are written â Ĥ ¬.
    expect(stream(qwen, ['a', 'â', 'Ĥ', '¬Ġb'])).toEqual(['a', '', '', '€ b', '']);
  });

  test('are U+FFFD if the rest is missing', () => {
    expect(stream(qwen, ['â', 'Ĥ', 'a', 'â'])).toEqual(['', '', '\ufffda', '', '\ufffd']);
  });

  test('may be a byte order mark, which is kept', () => {
    expect(stream(qwen, ['ï', '»', '¿', 'a'])).toEqual(['', '', '\ufeff', 'a', '']);
  });

  test('are not used in a token with other characters', () => {
    expect(stream(qwen, ['<｜end｜>', '▁'])).toEqual(['<｜end｜>', '▁', '']);
  });
});

describe("sentencepiece's byte tokens", () => {
  test('wait for the end of their run', () => {
    const tokens = ['▁a', '<0xE2>', '<0x82>', '<0xAC>', 'b'];
    expect(stream(llama, tokens)).toEqual(['a', '', '', '', '€b', '']);
  });

  test('are U+FFFD each if the run is not UTF-8', () => {
    const tokens = ['<0xE2>', '<0x82>', '<0xAC>', '<0xFF>', 'b', '<0xE2>'];
    const bad = '\ufffd';
    expect(stream(llama, tokens)).toEqual(['', '', '', '', `${bad.repeat(4)}b`, '', bad]);
  });
});

describe('the space before the first word', () => {
  test('is removed once', () => {
    expect(stream(llama, ['▁', '▁a', '▁b'])).toEqual(['', ' a', ' b', '']);
    expect(stream(llama, ['▁▁a'])).toEqual([' a', '']);
    expect(stream(llama, ['a', '▁b'])).toEqual(['a', ' b', '']);
  });

  test('stays after a prompt', () => {
    expect(stream(llama, ['▁b'], ['▁a'])).toEqual([' b', '']);
  });
});

test('text that started in the prompt belongs to the token that completes it', () => {
  expect(stream(qwen, ['Ĥ', '¬'], ['a', 'â'])).toEqual(['', '€', '']);
  expect(stream(llama, ['<0x82>', '<0xAC>', 'b'], ['<0xE2>'])).toEqual(['', '', '€b', '']);
  expect(stream(llama, ['b'], ['<0xE2>', '<0x82>', '<0xAC>'])).toEqual(['b', '']);
});
