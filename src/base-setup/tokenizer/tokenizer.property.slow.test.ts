import fc from 'fast-check';
import { Tokenizer as NativeTokenizer } from 'tokenizers';
import { describe, expect, test } from 'vitest';
import { tokenizerFolders } from '../../../test/fixtures/tokenizer/folders.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import { StreamingDecoder } from './tokenizer.ts';

/** Characters that tokenizers treat differently. */
const snippets = [
  '½',
  '²',
  '①',
  '٣',
  '\u0085',
  '\ufeff',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  "'s",
  '<s>',
  '<|im_end|>',
  '▁',
  '<0x41>',
  '🙂',
  '中',
  '\u0301',
];
/** Blocks that Unicode has not changed for long: Node and the native library may use different
 *  versions and then disagree about new letters. */
const blocks = [
  [0x0, 0x4ff],
  [0x5d0, 0x6ff],
  [0x904, 0x963],
  [0xe01, 0xe5b],
  [0x1100, 0x11ff],
  [0x2000, 0x206f],
  [0x2150, 0x2bff],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0xe000, 0xe0ff],
  [0xfb50, 0xfbb1],
  [0xfe00, 0xfe0f],
  [0xff00, 0xffff],
  [0x1d400, 0x1d7ff],
  [0x1f1e6, 0x1f64f],
  [0x20000, 0x2a6d6],
  [0xe0001, 0xe01ef],
  [0x10fff0, 0x10ffff],
];
const character = fc
  .oneof(...blocks.map(([min, max]) => fc.integer({ min: min!, max: max! })))
  .map((code) => String.fromCodePoint(code));
const text = fc
  .array(fc.oneof(fc.string({ unit: character }), fc.string(), fc.constantFrom(...snippets)))
  .map((parts) => parts.join(''));

async function loadBoth(folder: string) {
  const native = NativeTokenizer.fromFile(`${folder}/tokenizer.json`);
  return { tokenizer: await loadTokenizer(folder), native };
}

describe.each(tokenizerFolders)('$name', ({ folder, isAbsent, note }) => {
  let loaded: ReturnType<typeof loadBoth> | undefined;
  const load = () => {
    loaded ??= loadBoth(folder);
    return loaded;
  };

  test.skipIf(isAbsent)(`random text has the native library's ids${note}`, async () => {
    const { tokenizer, native } = await load();
    const property = fc.asyncProperty(text, async (sample) => {
      const expected = (await native.encode(sample)).getIds();
      expect([...tokenizer.encode(sample)]).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  test.skipIf(isAbsent)(
    `random ids have the native library's text, streamed too${note}`,
    async () => {
      const { tokenizer, native } = await load();
      const { vocabSize } = tokenizer;
      // Low ids are single bytes, which form invalid UTF-8; ids past the end are not tokens.
      const id = fc.oneof(fc.nat(260), fc.nat(vocabSize + 10));
      const property = fc.asyncProperty(
        fc.array(id),
        fc.boolean(),
        async (ids, skipSpecialTokens) => {
          const options = { skipSpecialTokens };
          const expected = await native.decode(ids, skipSpecialTokens);
          const decoder = new StreamingDecoder(tokenizer, options);
          const streamed = ids.map((one) => decoder.push(one));
          expect(streamed.join('') + decoder.finish()).toBe(expected);
          expect(tokenizer.decode(ids, options)).toBe(expected);
          expect(tokenizer.pieces(ids, options).join('')).toBe(expected);
          expect(tokenizer.pieces(ids, options)).toHaveLength(ids.length);
        },
      );
      await fc.assert(property, { numRuns: 1000 });
    },
  );

  test.skipIf(isAbsent)(`streamed text never shows part of a character${note}`, async () => {
    const { tokenizer } = await load();
    const property = fc.property(fc.string({ unit: 'grapheme' }), (sample) => {
      const ids = tokenizer.encode(sample);
      const decoder = new StreamingDecoder(tokenizer);
      const pieces = [...ids].map((one) => decoder.push(one));
      const whole = pieces.join('') + decoder.finish();
      fc.pre(!whole.includes('\ufffd'));
      expect(pieces.join('')).not.toContain('\ufffd');
      expect(tokenizer.pieces(ids).join('')).toBe(whole);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test.skipIf(isAbsent)(`a response after its prompt has the rest of the text${note}`, async () => {
    const { tokenizer } = await load();
    const property = fc.property(text, fc.nat(), (sample, at) => {
      const ids = tokenizer.encode(sample);
      const pieces = tokenizer.pieces(ids);
      const cut = at % (ids.length + 1);
      const [after, response] = [ids.subarray(0, cut), ids.subarray(cut)];
      const rest = pieces.slice(cut).join('');
      expect(tokenizer.pieces(response, { after }).join('')).toBe(rest);
      expect(tokenizer.decode(response, { after })).toBe(rest);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
