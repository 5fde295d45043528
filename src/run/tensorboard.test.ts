import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvents, readRecords } from '../../test/helpers/run-event-reader.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { crc32c, EventWriter, encodeSummary, frameRecord } from './tensorboard.ts';

const readFolder = (folder: string) =>
  readdirSync(folder)
    .toSorted()
    .map((name) => readEvents(readFileSync(join(folder, name))));

describe('encodeSummary()', () => {
  test('encodes a scalar as the hand-computed bytes', () => {
    // 1: double 1; 2: varint 3; 5: Summary { 1: Value { 1: "a", 2: float 0.5 } }
    const bytes = encodeSummary({ wallTime: 1, step: 3 }, { scalars: { a: 0.5 } });
    expect(Buffer.from(bytes).toString('hex')).toBe(
      ['09000000000000f03f', '1003', '2a0a', '0a08', '0a0161', '150000003f'].join(''),
    );
  });

  test('keeps every tag, float and text', () => {
    const scalars = fc.dictionary(fc.string(), fc.float());
    const texts = fc.dictionary(fc.string(), fc.array(fc.string({ unit: 'grapheme' })));
    fc.assert(
      fc.property(scalars, texts, fc.nat(), (scalars, texts, step) => {
        const content = { scalars: { ...scalars }, texts: { ...texts } };
        const record = frameRecord(encodeSummary({ wallTime: 1.5, step }, content));
        const expected = { wallTime: 1.5, step, isStart: false, ...content };
        expect(readEvents(Buffer.from(record))).toEqual([expected]);
      }),
    );
  });
});

describe('EventWriter', () => {
  test('writes the file version first, then the events in order', () => {
    const folder = join(makeTempFolder(), 'events');
    const before = Date.now() / 1000;
    const writer = new EventWriter(folder);
    writer.write(1, { scalars: { 'objective/kl': 0.5, lr: Number.NaN } });
    writer.write(2, { scalars: { 'objective/kl': 0.25 }, texts: { samples: ['é', '    code'] } });
    writer.sync();
    writer.close();
    writer.close();
    const [name] = readdirSync(folder);
    expect(name).toMatch(/^events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+$/);
    const [events] = readFolder(folder);
    expect(events!.map(({ wallTime, ...event }) => event)).toEqual([
      { step: 0, version: 'brain.Event:2', isStart: false, scalars: {}, texts: {} },
      { step: 1, isStart: false, scalars: { 'objective/kl': 0.5, lr: Number.NaN }, texts: {} },
      {
        step: 2,
        isStart: false,
        scalars: { 'objective/kl': 0.25 },
        texts: { samples: ['é', '    code'] },
      },
    ]);
    for (const { wallTime } of events!) {
      expect(wallTime).toBeGreaterThanOrEqual(before);
      expect(wallTime).toBeLessThanOrEqual(Date.now() / 1000);
    }
  });

  test('of a resumed run writes a new file that invalidates later steps', () => {
    const folder = makeTempFolder();
    for (const resumedStep of [undefined, 20, -1]) {
      const writer = new EventWriter(folder, { resumedStep });
      writer.write(30, { scalars: { lr: 1 } });
      writer.close();
    }
    const starts = readFolder(folder).map((events) => events.filter(({ isStart }) => isStart));
    expect(starts.map((events) => events.map(({ step }) => step))).toEqual([[], [21], [0]]);
  });
});

test('EventWriter creates no file if nothing is written', () => {
  const folder = join(makeTempFolder(), 'events');
  new EventWriter(folder, { resumedStep: 20 }).close();
  expect(existsSync(folder)).toBe(false);
});

describe('frameRecord()', () => {
  test('returns the hand-computed bytes', () => {
    // crc("a") = 0xc1d04330; right by 15: 0x000183a0 | 0x86600000; + 0xa282ead8 = 0x28e46e78
    const record = Buffer.from(frameRecord(Buffer.from('a')));
    expect(record.length).toBe(17);
    expect(record.readBigUInt64LE(0)).toBe(1n);
    expect(record[12]).toBe(0x61);
    expect(record.readUInt32LE(13)).toBe(0x28e46e78);
  });

  test('frames that another parser reads back', () => {
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

describe('crc32c()', () => {
  test('returns the check values of RFC 3720', () => {
    const bytes = (of: (i: number) => number) => Uint8Array.from({ length: 32 }, (_, i) => of(i));
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(bytes(() => 0))).toBe(0x8a9136aa);
    expect(crc32c(bytes(() => 0xff))).toBe(0x62a8ab43);
    expect(crc32c(bytes((i) => i))).toBe(0x46dd794e);
    expect(crc32c(bytes((i) => 31 - i))).toBe(0x113fdb5c);
    expect(crc32c(new Uint8Array())).toBe(0);
  });
});
