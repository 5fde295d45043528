import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from './float16.ts';

const fixture = new URL('../../../test/fixtures/safetensors/float16.json', import.meta.url);
const golden: Record<string, string> = JSON.parse(readFileSync(fixture, 'utf8'));

const patterns = Uint16Array.from({ length: 0x10000 }, (_, i) => i);

function digest(array: Float32Array | Uint16Array): string {
  return createHash('sha256').update(array).digest('hex');
}

/** The float32 values that the golden script encodes: all ties and their neighbours. */
const sources = makeSources();

function makeSources(): Float32Array {
  const bits = new Uint32Array(3 * 2 ** 21);
  let count = 0;
  for (let u = 0; u < 2 ** 32; u += 2048) {
    for (const low of [0, 1, 0x7ff]) if ((u + low) % 2 ** 31 <= 0x7f800000) bits[count++] = u + low;
  }
  return new Float32Array(bits.buffer, 0, count);
}

describe.each([
  ['Float16', decodeFloat16, encodeFloat16],
  ['Bfloat16', decodeBfloat16, encodeBfloat16],
])('%s', (name, decode, encode) => {
  test(`decode${name}() equals the oracle bit for bit on all 65,536 patterns`, () => {
    const floats = new Float32Array(patterns.length);
    decode(patterns, floats);
    expect(digest(floats)).toBe(golden[`decode${name}`]);
  });

  test(`encode${name}() equals torch on every tie and its neighbours`, () => {
    const encoded = new Uint16Array(sources.length);
    encode(sources, encoded);
    expect(sources.length).toBe(6_266_882);
    expect(digest(encoded)).toBe(golden[`encode${name}`]);
  });

  test(`encode${name}() inverts decoding for every pattern, NaN included`, () => {
    const floats = new Float32Array(patterns.length);
    const back = new Uint16Array(patterns.length);
    decode(patterns, floats);
    encode(floats, back);
    expect(digest(back)).toBe(digest(patterns));
  });

  test(`decode${name}() can decode the last half of its target in place`, () => {
    const expected = new Float32Array(patterns.length);
    decode(patterns, expected);
    const floats = new Float32Array(patterns.length + 2);
    const target = floats.subarray(1, -1);
    const halves = new Uint16Array(floats.buffer, 4 + 2 * patterns.length, patterns.length);
    halves.set(patterns);
    decode(halves, target);
    expect(digest(target)).toBe(digest(expected));
    expect([floats[0], floats.at(-1)]).toEqual([0, 0]);
  });

  test(`encode${name}() keeps NaN when its payload is only in the low bits`, () => {
    const source = new Float32Array(Uint32Array.of(0x7f800001, 0xff800001).buffer);
    const encoded = new Uint16Array(2);
    encode(source, encoded);
    const quiet = { Float16: 0x7e00, Bfloat16: 0x7fc0 }[name]!;
    expect([...encoded]).toEqual([quiet, quiet | 0x8000]);
  });

  test(`decode${name}() and encode${name}() reject different lengths`, () => {
    const message =
      'Cannot convert floats: source and target must have the same length, got 2 and 3';
    expect(() => decode(new Uint16Array(2), new Float32Array(3))).toThrow(new RangeError(message));
    expect(() => encode(new Float32Array(2), new Uint16Array(3))).toThrow(new RangeError(message));
  });
});

test('decodeBfloat16() equals torch on all patterns that are not NaN', () => {
  const numbers = patterns.filter((bits) => (bits & 0x7fff) <= 0x7f80);
  const floats = new Float32Array(numbers.length);
  decodeBfloat16(numbers, floats);
  expect(digest(floats)).toBe(golden.decodeBfloat16WithoutNaN);
});

test('decodeFloat16() returns the hand-worked numbers', () => {
  const floats = new Float32Array(6);
  decodeFloat16(Uint16Array.of(0x3c00, 0x0001, 0x7bff, 0x8000, 0xfc00, 0x03ff), floats);
  expect([...floats]).toEqual([1, 2 ** -24, 65504, -0, -Infinity, 1023 * 2 ** -24]);
});

test('encodeFloat16() returns the hand-worked numbers', () => {
  const halves = new Uint16Array(8);
  const tie = 2 ** -11;
  encodeFloat16(
    Float32Array.of(1 + tie, 1 + 3 * tie, 65519, 65520, 2 ** -25, 1.5 * 2 ** -24, -0, -1e9),
    halves,
  );
  expect([...halves]).toEqual([0x3c00, 0x3c02, 0x7bff, 0x7c00, 0, 2, 0x8000, 0xfc00]);
});

test('encodeBfloat16() returns the hand-worked numbers', () => {
  const halves = new Uint16Array(5);
  encodeBfloat16(
    Float32Array.of(1 + 2 ** -8, 1 + 3 * 2 ** -8, -3.140625, 3.4e38, -Infinity),
    halves,
  );
  expect([...halves]).toEqual([0x3f80, 0x3f82, 0xc049, 0x7f80, 0xff80]);
});
