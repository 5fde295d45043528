import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePacked, decodeWire } from '../../../test/helpers/runtime-onnx-decoder.ts';
import { ProtoWriter } from './protobuf.ts';

const hex = (writer: ProtoWriter) => Buffer.from(writer.finish()).toString('hex');

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const fieldNumber = fc.integer({ min: 1, max: 1000 });

describe('bytes from the documentation of protocol buffers', () => {
  test('150 in field 1 is 08 96 01', () => {
    expect(hex(new ProtoWriter().int(1, 150))).toBe('089601');
  });

  test('"testing" in field 2 is 12 07 and its letters', () => {
    expect(hex(new ProtoWriter().string(2, 'testing'))).toBe('120774657374696e67');
  });

  test('a message in field 3 is prefixed with its length', () => {
    expect(hex(new ProtoWriter().message(3, new ProtoWriter().int(1, 150)))).toBe('1a03089601');
  });

  test('3, 270 and 86942 packed in field 6 are six bytes', () => {
    expect(hex(new ProtoWriter().packedInts(6, [3, 270, 86942]))).toBe('3206038e029ea705');
  });

  test('−2 takes ten bytes', () => {
    expect(hex(new ProtoWriter().int(1, -2))).toBe('08feffffffffffffffff01');
  });
});

describe('ProtoWriter', () => {
  test.each([
    ['0', 0, 0n],
    ['127, the last of one byte', 127, 127n],
    ['128, the first of two bytes', 128, 128n],
    ['2^31', 2 ** 31, 2n ** 31n],
    ['2^53 − 1', Number.MAX_SAFE_INTEGER, 2n ** 53n - 1n],
    ['2^53 + 1, which no number represents', 2n ** 53n + 1n, 2n ** 53n + 1n],
    ['the largest int64', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['the smallest int64', -(2n ** 63n), -(2n ** 63n)],
    ['−1 as a number', -1, -1n],
  ])('int() writes %s', (_, value, expected) => {
    const [got] = decodeWire(new ProtoWriter().int(5, value).finish()).get(5) ?? [];
    expect(BigInt.asIntN(64, got as bigint)).toBe(expected);
  });

  test('int() can be decoded for any int64 and field', () => {
    fc.assert(
      fc.property(fieldNumber, int64, (field, value) => {
        const decoded = decodeWire(new ProtoWriter().int(field, value).finish());
        expect([...decoded.keys()]).toEqual([field]);
        expect(BigInt.asIntN(64, decoded.get(field)?.[0] as bigint)).toBe(value);
      }),
    );
  });

  test('float() keeps every bit of a float32', () => {
    fc.assert(
      fc.property(fc.float(), (value) => {
        expect(decodeWire(new ProtoWriter().float(2, value).finish()).get(2)?.[0]).toBe(value);
      }),
    );
  });

  test('float() rounds a number to the nearest float32', () => {
    expect(decodeWire(new ProtoWriter().float(2, 0.1).finish()).get(2)).toEqual([
      0.10000000149011612,
    ]);
  });

  test('packedInts() can be decoded for any int64s', () => {
    fc.assert(
      fc.property(fc.array(int64), (values) => {
        const [packed] = decodeWire(new ProtoWriter().packedInts(8, values).finish()).get(8) ?? [];
        const signed = decodePacked(packed as Uint8Array).map((value) => BigInt.asIntN(64, value));
        expect(signed).toEqual(values);
      }),
    );
  });

  test('string() writes UTF-8 with its length in bytes', () => {
    const [bytes] = decodeWire(new ProtoWriter().string(1, 'δ→%0').finish()).get(1) ?? [];
    expect(Buffer.from(bytes as Uint8Array).toString('hex')).toBe('ceb4e286922530');
  });

  test('string() writes the empty string, which a list of strings needs', () => {
    expect(decodeWire(new ProtoWriter().string(1, 'a').string(1, '').finish()).get(1)).toEqual([
      Uint8Array.of(0x61),
      new Uint8Array(),
    ]);
  });

  test('bytes() writes a view, not its whole buffer', () => {
    const view = Uint8Array.of(9, 1, 2, 9).subarray(1, 3);
    expect(hex(new ProtoWriter().bytes(1, view))).toBe('0a020102');
  });

  test('messages nest, with lengths of several bytes', () => {
    const inner = new ProtoWriter().bytes(1, new Uint8Array(300).fill(7));
    const nested = new ProtoWriter().int(1, 1).message(2, new ProtoWriter().message(3, inner));
    const outer = decodeWire(nested.int(4, 4).finish());
    const middle = decodeWire(outer.get(2)?.[0] as Uint8Array);
    const [bytes] = decodeWire(middle.get(3)?.[0] as Uint8Array).get(1) ?? [];
    expect(bytes).toEqual(new Uint8Array(300).fill(7));
    expect([outer.get(1), outer.get(4)]).toEqual([[1n], [4n]]);
  });
});
