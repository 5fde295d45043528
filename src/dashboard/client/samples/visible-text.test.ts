import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneLine, visibleText } from './visible-text.ts';

describe('visibleText()', () => {
  test.each([
    ['a\u001b[1m', 'a␛[1m'],
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['\u0000\u007f\u009b', '␀␡⟨U+009B⟩'],
    ['a\r\nb\tc', 'a␍\nb\tc'],
    ['<script>é漢🙂</script>', '<script>é漢🙂</script>'],
  ])('visibleText(%j) is %j', (text, seen) => {
    expect(visibleText(text)).toBe(seen);
  });

  test('visibleText() leaves no control character but tab and newline', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text).replace(/[\t\n]/g, '')).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

test.each([
  ['a\nb\r\nc', 10, 'a↵b↵c'],
  ['abcdef', 3, 'abc…'],
  ['\u001b\tx', 5, '␛ x'],
] as const)('oneLine(%j, %i) is %j', (text, limit, line) => {
  expect(oneLine(text, limit)).toBe(line);
});
