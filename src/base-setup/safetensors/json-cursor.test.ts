import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonCursor } from './json-cursor.ts';

const cursorOver = (text: string) => new JsonCursor(text, { file: 'f', whole: 'the text' });

/** The error of skipping over a whole text, if any. */
function skipError(text: string): string | undefined {
  const cursor = cursorOver(text);
  try {
    cursor.skip();
    cursor.end();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const characters = fc.constantFrom(...'{}[]",:\\u0019.eE+- \n\t\u0001xtrue');

test('skip() accepts exactly what JSON.parse accepts', () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat(2),
    insert: fc.string({ unit: characters, maxLength: 3 }),
  });
  let valid = 0;
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.array(edit, { maxLength: 2 }), (json, edits) => {
      const text = edits.reduce((old, { at, remove, insert }) => {
        const start = at % (old.length + 1);
        return old.slice(0, start) + insert + old.slice(start + remove);
      }, json);
      const error = skipError(text);
      fc.pre(!/must be unique|must be Unicode/.test(error ?? ''));
      expect(error === undefined, `${error} of ${text}`).toBe(isJson(text));
      if (error === undefined) valid++;
    }),
    { numRuns: 5000 },
  );
  expect(valid).toBeGreaterThan(1000);
});

test('string() reads what JSON.stringify wrote', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(cursorOver(JSON.stringify(text)).string('')).toBe(text);
      const escaped = [...Array(text.length).keys()].map(
        (i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`,
      );
      expect(cursorOver(`"${escaped.join('')}"`).string('')).toBe(text);
    }),
  );
});

test('count() reads only whole numbers up to 2^53 - 1', () => {
  const read = (text: string) => () => cursorOver(text).count('it must be a count');
  for (const value of [0, 7, 10, 4096, Number.MAX_SAFE_INTEGER]) {
    expect(read(` ${value}]`)()).toBe(value);
  }
  for (const text of ['-1', '1.5', '1.0', '1e3', '01', '9007199254740992', 'null', '+1', '0x10']) {
    expect(read(text)).toThrow(
      new SyntaxError(`Cannot read f: the text: it must be a count, got ${text}`),
    );
  }
  expect(read('9'.repeat(1000))).toThrow(`got ${'9'.repeat(40)}`);
  expect(read('"1"')).toThrow('got "1"');
  expect(read('[1]')).toThrow('got a list');
  expect(read('{"a":1}')).toThrow('got an object');
  expect(read('')).toThrow('got the end');
});

test('object() rejects a duplicate key, also if it is escaped', () => {
  expect(skipError('{"a":1,"b":2,"\\u0061":3}')).toBe(
    'Cannot read f: the text: a key must be unique, got "a" twice',
  );
});

test('string() rejects a lone surrogate', () => {
  expect(skipError('"\\ud83d"')).toBe(
    'Cannot read f: the text: text must be Unicode, got "\\ud83d"',
  );
});

test('skip() rejects values that are nested too deeply', () => {
  expect(skipError('['.repeat(1e6))).toBe(
    'Cannot read f: the text: values must nest at most 64 deep, got more',
  );
});

test('a syntax error names the character and its position', () => {
  expect(skipError('{"a" 1}')).toBe('Cannot read f: the text must be JSON, got 1 at character 5');
  expect(skipError('{"a":"x\ny"}')).toBe(
    'Cannot read f: the text must be JSON, got \ufffd at character 7',
  );
  expect(skipError('[1,2')).toBe(
    'Cannot read f: the text must be JSON, got the end at character 4',
  );
  expect(skipError('{} {}')).toBe(
    'Cannot read f: the text must be JSON, got an object at character 3',
  );
});
