import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { catchRowError, findInvalidUtf8, RowError, throwRowError } from './data-row.ts';
import { readRows } from './read-rows.ts';

describe('findInvalidUtf8()', () => {
  test.each([
    ['a byte that never occurs in UTF-8', [0x61, 0xc3, 0xa4, 0xff, 0x62], 3],
    ['a character truncated at the end', [0x61, 0xe2, 0x82], 1],
    ['a character interrupted by another one', [0xe2, 0x28, 0xa1], 0],
    ['a lone continuation byte', [0x61, 0x80], 1],
    ['an overlong encoding', [0x61, 0xc0, 0xaf], 1],
    ['an encoded surrogate', [0x62, 0x61, 0xed, 0xa0, 0x80], 2],
    ['a sequence that starts like U+FFFD', [0x61, 0xef, 0xbf, 0x28], 1],
    ['a truncated sequence that starts like U+FFFD', [0xef, 0xbf], 0],
    ['Latin-1 after U+FFFD', [0xef, 0xbf, 0xbd, 0xe4], 3],
  ])('finds %s', (_, bytes, at) => {
    expect(findInvalidUtf8(Uint8Array.from(bytes))).toBe(at);
  });

  test('finds 0xff after any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (text, rest) => {
        const valid = Buffer.from(text);
        expect(findInvalidUtf8(Buffer.concat([valid, Buffer.of(0xff), rest]))).toBe(valid.length);
      }),
    );
  });
});

test('catchRowError() catches only a RowError', () => {
  const error = new RowError('Cannot', { reason: 'too-long', origin: 'f line 1' });
  const seen: RowError[] = [];
  const fail = (error: Error) => () => {
    throw error;
  };
  expect(catchRowError(() => 5, throwRowError)).toBe(5);
  expect(catchRowError(fail(error), (one) => seen.push(one))).toBeUndefined();
  expect(seen).toEqual([error]);
  expect(() => catchRowError(fail(error), throwRowError)).toThrow(error);
  expect(() => catchRowError(fail(new Error('other')), () => {})).toThrow('other');
});

describe('bytes that are not UTF-8', () => {
  const latin = Buffer.from('prompt,id\n"caf\xe9",1\n', 'latin1');

  test('are reported with their line if a file is read as a whole', async () => {
    const path = join(makeTempFolder(), 'p.csv');
    writeFileSync(path, latin);
    await expect(readRows(path).next()).rejects.toThrow(
      `Cannot read ${path}: it must be UTF-8, got other bytes; convert it first (0xe9 is byte 5 of line 2)`,
    );
  });

  test('cost only one row if lines are read one by one', async () => {
    const path = join(makeTempFolder(), 'p.txt');
    writeFileSync(path, Buffer.concat([latin, Buffer.from('caf\u00e9\n')]));
    const errors: RowError[] = [];
    const texts: unknown[] = [];
    for await (const { columns } of readRows(path, { onRowError: (error) => errors.push(error) })) {
      texts.push(columns.text);
    }
    expect(texts).toEqual(['prompt,id', 'caf\u00e9']);
    expect(errors.map(({ reason, origin }) => [reason, origin])).toEqual([
      ['invalid-utf8', `${path} line 2`],
    ]);
  });
});
