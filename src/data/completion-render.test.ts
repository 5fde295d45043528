import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { encodeAfter, endWithEos } from './completion-render.ts';

const load = (name: string) =>
  loadTokenizer(tokenizerFolders.find((folder) => folder.name === name)!.folder);

describe('encodeAfter()', () => {
  test('does not treat a completion as the start of a text, where Llama adds a space', async () => {
    const tokenizer = await load('tiny-llama2');
    const alone = tokenizer.encode('the', { addSpecialTokens: false });
    const after = encodeAfter('a\n', 'the', { tokenizer });
    expect(tokenizer.pieces(after, { after: tokenizer.encode('a\n') }).join('')).toBe('the');
    expect(
      tokenizer.decode([...tokenizer.encode('a\n'), ...alone], { skipSpecialTokens: true }),
    ).toBe('a\n the');
  });

  const part = fc.constantFrom('a', 'the', ' ', '\n', 'é', '🐕', '1', '.', ' dog', '  ');
  const text = fc.array(part, { minLength: 1, maxLength: 30 }).map((parts) => parts.join(''));

  test.each(['tiny-llama3', 'tiny-smollm'])(
    'returns tokens that decode to exactly the text, wherever it is split: %s',
    async (name) => {
      const tokenizer = await load(name);
      fc.assert(
        fc.property(text, text, (before, after) => {
          const start = tokenizer.encode(before, { addSpecialTokens: false });
          const tokens = encodeAfter(before, after, { tokenizer });
          expect(tokenizer.decode([...start, ...tokens])).toBe(before + after);
        }),
      );
    },
  );

  test('encodes like the whole text at the start of a word', async () => {
    const tokenizer = await load('tiny-llama3');
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), word, (words, last) => {
        const before = words.join(' ');
        const whole = tokenizer.encode(`${before} ${last}`, { addSpecialTokens: false });
        const start = tokenizer.encode(before, { addSpecialTokens: false });
        expect([...start, ...encodeAfter(before, ` ${last}`, { tokenizer })]).toEqual([...whole]);
      }),
    );
  });
});

test('endWithEos() adds the EOS token once', async () => {
  const tokenizer = await loadTokenizer(writeTinyTokenizer(makeTempFolder()));
  expect(endWithEos(Int32Array.of(5, 7), tokenizer)).toEqual(Int32Array.of(5, 7, 1));
  expect(endWithEos(Int32Array.of(5, 1), tokenizer)).toEqual(Int32Array.of(5, 1));
  expect(endWithEos(Int32Array.of(), tokenizer)).toEqual(Int32Array.of(1));
});
