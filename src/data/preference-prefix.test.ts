import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitConversations, splitTexts } from './preference-prefix.ts';

const sides = (prompt: unknown, chosen: unknown, rejected: unknown) => ({
  prompt,
  chosen,
  rejected,
});

describe('splitTexts()', () => {
  test.each([
    [
      'the last mark of HH that both have',
      ['\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant: I do', ' I see'],
      ['\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant:', ' I do', ' I see'],
    ],
    ['the word before', ['The cat sat', 'The cat sits'], ['The cat', ' sat', ' sits']],
    ['a label', ['Q: 2?\nA: 4', 'Q: 2?\nA: 5'], ['Q: 2?\nA:', ' 4', ' 5']],
    ['a line', ['one\n\ntwo', 'one\n\nthree'], ['one\n\n', 'two', 'three']],
    ['the last of several spaces', ['a  b', 'a  c'], ['a ', ' b', ' c']],
    ['where both have something left', ['a b', 'a b c'], ['a', ' b', ' b c']],
    ['nothing', ['Hello', 'Help'], ['', 'Hello', 'Help']],
    ['nothing of an empty text', ['', 'a b'], ['', '', 'a b']],
  ])('cuts behind %s', (name, texts, [prompt, ...rest]) => {
    const [chosen = '', other = ''] = texts;
    const rejected = name.includes('HH') ? `${prompt}${other}` : other;
    expect(splitTexts(chosen, rejected)).toEqual(sides(prompt, rest[0], rest[1]));
  });

  test('takes what follows a later mark of one side for its completion', () => {
    const start = '\n\nHuman: a\n\nAssistant:';
    const chosen = `${start} b\n\nHuman: c\n\nAssistant: d`;
    expect(splitTexts(chosen, `${start} e`)).toEqual(
      sides(start, ' b\n\nHuman: c\n\nAssistant: d', ' e'),
    );
  });

  const part = fc.constantFrom(
    ' ',
    '\n',
    '\t',
    'a',
    'b',
    'word',
    '🐕',
    '🐈',
    '\n\nAssistant:',
    'é',
  );
  const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));

  test('loses nothing, and never cuts a word or a character', () => {
    fc.assert(
      fc.property(text, text, text, (start, a, b) => {
        const [chosen, rejected] = [start + a, start + b];
        const split = splitTexts(chosen, rejected);
        expect(split.prompt + split.chosen).toBe(chosen);
        expect(split.prompt + split.rejected).toBe(rejected);
        if (split.prompt === '' || split.prompt.endsWith('\n\nAssistant:')) return;
        expect(`${split.prompt.slice(-1)}|${split.chosen}`).toMatch(/^(\n\||.\|\s)/s);
        expect(`${split.prompt.slice(-1)}|${split.rejected}`).toMatch(/^(\n\||.\|\s)/s);
      }),
    );
  });

  test('finds any prompt of lines, whatever words the completions begin with', () => {
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), word, word, (lines, a, b) => {
        const prompt = lines.map((line) => `${line}\n`).join('');
        expect(splitTexts(`${prompt}${a}`, `${prompt}${b}`)).toEqual(sides(prompt, a, b));
      }),
    );
  });
});

describe('splitConversations()', () => {
  const [u1, u2] = ['x', 'y'].map((content) => ({ role: 'user', content })) as [never, never];
  const [a1, a2, a3] = ['p', 'q', 'r'].map((content) => ({ role: 'assistant', content })) as [
    never,
    never,
    never,
  ];

  test.each([
    ['what both share', [u1, a1, u2, a2], [u1, a1, u2, a3], 3],
    ['a question, not an answer', [u1, a1, u2, a2], [u1, a1], 1],
    ['a question where answers begin alike', [u1, a1, a2], [u1, a1, a3], 1],
    ['nothing', [u1, a1], [u2, a1], 0],
    ['a question where all is equal', [u1, a1], [u1, a1], 1],
  ])('cuts behind %s', (_, chosen, rejected, end) => {
    expect(splitConversations(chosen, rejected)).toEqual(
      sides(chosen.slice(0, end), chosen.slice(end), rejected.slice(end)),
    );
  });
});
