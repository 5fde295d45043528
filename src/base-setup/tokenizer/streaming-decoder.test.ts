import { describe, expect, test } from 'vitest';
import { makeDecoder } from './make-decoder.ts';
import { type DecodeOptions, StreamingDecoder, type TokenReader } from './streaming-decoder.ts';

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

/** What each of the tokens gives, and what comes at the end. */
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

  test('are U+FFFD when the rest does not come', () => {
    expect(stream(qwen, ['â', 'Ĥ', 'a', 'â'])).toEqual(['', '', '\ufffda', '', '\ufffd']);
  });

  test('may be a byte order mark, which stays', () => {
    expect(stream(qwen, ['ï', '»', '¿', 'a'])).toEqual(['', '', '\ufeff', 'a', '']);
  });

  test('are not meant in a token with other characters', () => {
    expect(stream(qwen, ['<｜end｜>', '▁'])).toEqual(['<｜end｜>', '▁', '']);
  });
});

describe("sentencepiece's byte tokens", () => {
  test('wait for the end of their run', () => {
    const tokens = ['▁a', '<0xE2>', '<0x82>', '<0xAC>', 'b'];
    expect(stream(llama, tokens)).toEqual(['a', '', '', '', '€b', '']);
  });

  test('are U+FFFD each when one of the run is not UTF-8', () => {
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

test('text that the prompt began belongs to the token that ends it', () => {
  expect(stream(qwen, ['Ĥ', '¬'], ['a', 'â'])).toEqual(['', '€', '']);
  expect(stream(llama, ['<0x82>', '<0xAC>', 'b'], ['<0xE2>'])).toEqual(['', '', '€b', '']);
  expect(stream(llama, ['b'], ['<0xE2>', '<0x82>', '<0xAC>'])).toEqual(['b', '']);
});
