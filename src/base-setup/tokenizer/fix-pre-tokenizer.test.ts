import fc from 'fast-check';
import { Tokenizer as NativeTokenizer } from 'tokenizers';
import { expect, test } from 'vitest';
import { readFixture } from '../../../test/fixtures/tokenizer/folders.ts';
import { Tokenizer } from './tokenizer.ts';

/** Non-ASCII spaces and digits, and similar characters. */
const odd = '\u0085\ufeff\u00a0\u2028\u3000\u200b½²①Ⅷ٣४１'.split('');
const parts = ['a', 'b', 'the', '1', '23', ' ', '  ', '\n', "'s", '.', '▁', '<s>', ...odd];
const text = fc.array(fc.constantFrom(...parts)).map((some) => some.join(''));

const read = (name: string) => JSON.parse(readFixture(`${name}/tokenizer.json`));

/** Adds merges of symbols from left to right. */
function withMerges(json: ReturnType<typeof read>, words: string[][]) {
  const vocab: Record<string, number> = { ...json.model.vocab };
  const merges: string[][] = [...json.model.merges];
  for (const symbols of words) {
    symbols.reduce((left, right) => {
      merges.push([left, right]);
      vocab[left + right] ??= 1000 + Object.keys(vocab).length;
      return left + right;
    });
  }
  return { ...json, model: { ...json.model, vocab, merges } };
}

/** Merges of every unusual character with what may precede it, so that a wrong split is visible. */
function oddWords(): string[][] {
  return odd.flatMap((character) => {
    const symbols = bytesOf(character);
    return ['a', '1', 'Ġ', symbols[0]!].map((before) => [before, ...symbols]);
  });
}

function bytesOf(character: string): string[] {
  const shown = (byte: number) =>
    (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
      ? byte
      : 0x100 + (byte < 0x21 ? byte : byte === 0xad ? 67 : byte - 0x7f + 33);
  return [...Buffer.from(character)].map((byte) => String.fromCharCode(shown(byte)));
}

async function expectSame(json: object) {
  const native = NativeTokenizer.fromString(JSON.stringify(json));
  const files = { config: {}, model: {}, generation: {}, chatTemplate: undefined };
  const ours = new Tokenizer({ ...files, tokenizer: json as never });
  const property = fc.asyncProperty(text, async (sample) => {
    expect([...ours.encode(sample)]).toEqual((await native.encode(sample)).getIds());
  });
  await fc.assert(property, { numRuns: 500 });
}

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };

test('byte-level tokenizers split a text into the same words as the native library', async () => {
  const pre_tokenizer = { ...byteLevel, use_regex: true };
  await expectSame({ ...withMerges(read('tiny-smollm'), oddWords()), pre_tokenizer });
});

test.each([true, false])(
  'digits are split as in the native library, one by one: %s',
  async (individual_digits) => {
    const digits = { type: 'Digits', individual_digits };
    const pretokenizers = [digits, { ...byteLevel, use_regex: true }];
    await expectSame({
      ...withMerges(read('tiny-smollm'), oddWords()),
      pre_tokenizer: { type: 'Sequence', pretokenizers },
    });
  },
);

test.each([
  ['first', false],
  ['first', true],
  ['always', false],
  ['always', true],
  ['never', true],
])('sentencepiece prepends a space: %s, and splits words: %s', async (prepend_scheme, split) => {
  const pre_tokenizer = { type: 'Metaspace', replacement: '▁', prepend_scheme, split };
  const json = withMerges(read('tiny-llama2'), [
    ['a', '▁', 'b'],
    ['.', '▁', '▁'],
  ]);
  await expectSame({ ...json, normalizer: null, pre_tokenizer });
});
