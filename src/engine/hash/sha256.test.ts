import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sha256 } from './sha256.ts';

const expected = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('Sha256 equals the published hash of abc', () => {
  expect(new Sha256().update('abc').hex()).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});

test('Sha256 equals node:crypto at every length around a block', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) % 256);
    expect(new Sha256().update(bytes).hex()).toBe(expected(bytes));
  }
});

test('Sha256 equals node:crypto however the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 150 }), { maxLength: 6 }), (parts) => {
      const hash = new Sha256();
      for (const part of parts) hash.update(part);
      expect(hash.hex()).toBe(expected(Buffer.concat(parts)));
    }),
  );
});

test('Sha256 hashes texts as UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
      expect(new Sha256().update(text).hex()).toBe(expected(Buffer.from(text)));
    }),
  );
});
