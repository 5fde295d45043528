import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../../test/helpers/run-event-reader.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { encodeSummary } from './event.ts';
import { EventWriter } from './event-writer.ts';
import { frameRecord } from './tfrecord.ts';

const readFolder = (folder: string) =>
  readdirSync(folder)
    .toSorted()
    .map((name) => readEvents(readFileSync(join(folder, name))));

describe('encodeSummary()', () => {
  test('encodeSummary() gives the hand-worked bytes of a scalar', () => {
    // 1: double 1; 2: varint 3; 5: Summary { 1: Value { 1: "a", 2: float 0.5 } }
    const bytes = encodeSummary({ wallTime: 1, step: 3 }, { scalars: { a: 0.5 } });
    expect(Buffer.from(bytes).toString('hex')).toBe(
      ['09000000000000f03f', '1003', '2a0a', '0a08', '0a0161', '150000003f'].join(''),
    );
  });

  test('encodeSummary() keeps every tag, float and text', () => {
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
  test('EventWriter writes a file with the version first, then the events in order', () => {
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

  test('EventWriter of a resumed run writes a later file that takes back later steps', () => {
    const folder = makeTempFolder();
    new EventWriter(folder).close();
    new EventWriter(folder, { resumedStep: 20 }).close();
    new EventWriter(folder, { resumedStep: -1 }).close();
    const starts = readFolder(folder).map((events) => events.filter(({ isStart }) => isStart));
    expect(starts.map((events) => events.map(({ step }) => step))).toEqual([[], [21], [0]]);
  });
});
