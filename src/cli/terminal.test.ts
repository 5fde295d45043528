import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeFailure } from './exit.ts';
import { listWriter, streamWriter } from './generate.ts';
import { ProgressView } from './progress.ts';
import { formatTable } from './table.ts';
import { stripControls, wrapWords } from './terminal.ts';

describe('stripControls()', () => {
  test('removes escape codes, bells and carriage returns, but not tabs and line feeds', () => {
    expect(stripControls('a\x1b[2Jb\r\n')).toBe('a[2Jb\n');
    expect(stripControls('\x1b]0;title\x07\tx')).toBe(']0;title\tx');
    expect(stripControls('\u009b31mred\u007f\0')).toBe('31mred');
  });

  test('removes characters that reverse the text direction', () => {
    expect(stripControls('a\u202eb\u2066c')).toBe('abc');
  });

  test('leaves other text unchanged and no control character in any text', () => {
    expect(stripControls('naïve 日本 👩‍👧 \u00a0')).toBe('naïve 日本 👩‍👧 \u00a0');
    const texts = fc.array(fc.nat(0x2100)).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(texts, (text) => {
        const stripped = stripControls(text);
        const codes = [...stripped].map((character) => character.codePointAt(0)!);
        const isControl = (code: number) =>
          (code < 32 && code !== 9 && code !== 10) || (code >= 127 && code < 160);
        expect(codes.some(isControl)).toBe(false);
        expect(stripControls(stripped)).toBe(stripped);
      }),
    );
  });
});

describe('control characters never reach the terminal in', () => {
  const hostile = 'evil\x1b]0;owned\x07\r\x1b[2J\u009b2J';
  const harmless = 'evil]0;owned[2J2J';

  /** The output of a text writer. */
  function outputOf(make: typeof listWriter): string {
    const parts: string[] = [];
    const output = { isTTY: false, write: (text: string) => parts.push(text) > 0 };
    const writer = make(output);
    writer.piece(hostile, hostile);
    const none = { tokens: new Int32Array(), logprobs: new Float32Array() };
    const text = { prompt: 0, sample: 0, text: hostile, promptTokens: none.tokens, pieces: [] };
    const rest = { samplingLogprobs: none.logprobs, finishReason: 'stop' } as const;
    writer.done({ ...text, ...none, ...rest }, hostile);
    writer.close();
    return parts.join('');
  }

  test('tables', () => {
    expect(formatTable([[hostile, 'x']])).toBe(`  ${harmless}  x`);
  });

  test('generated texts', () => {
    expect(outputOf((output) => streamWriter(output, { chat: false }))).toBe(`${harmless}\n`);
    expect(outputOf(listWriter)).toBe(`── prompt 1, text 1: ${harmless}\n${harmless}\n\n`);
  });

  test('errors', () => {
    expect(describeFailure(new Error(hostile)).text).toBe(`${harmless}\n`);
  });

  test('warnings of a run', () => {
    const lines: string[] = [];
    const view = new ProgressView({ output: { write: (text: string) => lines.push(text) > 0 } });
    view.handle({ type: 'warning', step: 1, message: hostile });
    expect(lines).toEqual([`Warning: ${harmless}\n`]);
  });
});

test('wrapWords() breaks lines between words and indents all but the first', () => {
  expect(wrapWords('a  bc de', { width: 5, indent: 2 })).toBe('a  bc\n  de');
  expect(wrapWords('one two', { width: 7 })).toBe('one two');
  expect(wrapWords('a incomprehensible b', { width: 6 })).toBe('a\nincomprehensible\nb');
  expect(wrapWords('  label  text more', { width: 14, indent: 9 })).toBe(
    '  label  text\n         more',
  );
});
