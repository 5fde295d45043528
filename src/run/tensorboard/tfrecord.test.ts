import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRecords } from '../../../test/helpers/run-event-reader.ts';
import { frameRecord } from './tfrecord.ts';

describe('frameRecord()', () => {
  test('frameRecord() gives the hand-worked bytes', () => {
    // crc("a") = 0xc1d04330; right by 15: 0x000183a0 | 0x86600000; + 0xa282ead8 = 0x28e46e78
    const record = Buffer.from(frameRecord(Buffer.from('a')));
    expect(record.length).toBe(17);
    expect(record.readBigUInt64LE(0)).toBe(1n);
    expect(record[12]).toBe(0x61);
    expect(record.readUInt32LE(13)).toBe(0x28e46e78);
  });

  test('frameRecord() is read back by another parser, frame after frame', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (payloads) => {
        const file = Buffer.concat(payloads.map(frameRecord));
        expect(readRecords(file).map((record) => [...record])).toEqual(
          payloads.map((payload) => [...payload]),
        );
      }),
    );
  });
});
