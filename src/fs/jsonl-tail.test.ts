import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { JsonlTail } from './jsonl-tail.ts';

function parseRecord(bytes: Buffer): { step: number } | undefined {
  try {
    const record = JSON.parse(bytes.toString()) as { step?: unknown } | null;
    return typeof record?.step === 'number' ? (record as { step: number }) : undefined;
  } catch {
    return undefined;
  }
}

/** A tail of a file that does not exist yet, and what it has read. */
function openTail() {
  const path = join(makeTempFolder(), 'a.jsonl');
  const rows: unknown[] = [];
  const offsets: number[] = [];
  const tail = new JsonlTail(path, {
    add(bytes, offset) {
      const record = parseRecord(bytes);
      if (record !== undefined) {
        rows.push(record);
        offsets.push(offset);
      }
      return record !== undefined;
    },
    clear() {
      rows.length = 0;
      offsets.length = 0;
    },
  });
  return { path, rows, offsets, tail };
}

describe('JsonlTail', () => {
  test('skips empty lines but counts them as lines', async () => {
    const { path, rows, tail } = openTail();
    writeFileSync(path, '{"step":1}\n\n{"step":2}\n');
    expect(await tail.update()).toBe('grown');
    expect(rows).toEqual([{ step: 1 }, { step: 2 }]);
    expect([tail.lines, tail.skipped]).toEqual([3, 0]);
  });

  test('waits for the rest of a partial last line', async () => {
    const { path, rows, offsets, tail } = openTail();
    expect(await tail.update()).toBe('same');
    writeFileSync(path, '{"step":1}\n{"st');
    expect(await tail.update()).toBe('grown');
    expect(rows).toEqual([{ step: 1 }]);
    appendFileSync(path, 'ep":2}');
    expect(await tail.update()).toBe('same');
    appendFileSync(path, '\n');
    expect(await tail.update()).toBe('grown');
    expect(rows).toEqual([{ step: 1 }, { step: 2 }]);
    expect(offsets).toEqual([0, 11]);
    expect(await tail.update()).toBe('same');
  });

  test('reads the same rows for any split of the writes', async () => {
    const { path, rows, tail } = openTail();
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 6 });
    const cuts = fc.array(fc.nat(400), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (texts, cuts) => {
        rmSync(path, { force: true });
        await tail.update();
        const records = texts.map((text, step) => ({ step, text }));
        const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
        const places = [...cuts, bytes.length].toSorted((a, b) => a - b);
        let from = 0;
        for (const to of places) {
          appendFileSync(path, bytes.subarray(from, to));
          from = Math.max(from, to);
          await tail.update();
        }
        expect(rows).toEqual(records);
      }),
      { numRuns: 40 },
    );
  });

  test('reads a line longer than one chunk', async () => {
    const { path, rows, tail } = openTail();
    const long = { step: 1, text: 'é'.repeat(1_300_000) };
    writeFileSync(path, `${JSON.stringify(long)}\n{"step":2}\n`);
    await tail.update();
    expect(rows).toEqual([long, { step: 2 }]);
  });

  test('skips and counts invalid lines', async () => {
    const { path, rows, tail } = openTail();
    writeFileSync(path, '{"step":1}\n{bad\n\n7\nnull\n{"step":"1"}\n{"step":2}\n');
    await tail.update();
    expect(rows).toEqual([{ step: 1 }, { step: 2 }]);
    expect(tail.skipped).toBe(4);
  });

  test('starts over when the file is truncated, replaced, rewritten or deleted', async () => {
    const { path, rows, tail } = openTail();
    writeFileSync(path, '{"step":1}\n{"step":2}\n');
    await tail.update();
    truncateSync(path, 11);
    expect(await tail.update()).toBe('reset');
    expect(rows).toEqual([{ step: 1 }]);
    writeFileSync(`${path}.new`, '{"step":1}\n{"step":3}\n{"step":4}\n');
    renameSync(`${path}.new`, path);
    expect(await tail.update()).toBe('reset');
    expect(rows).toEqual([{ step: 1 }, { step: 3 }, { step: 4 }]);
    writeFileSync(path, '{"step":5}\n{"step":6}\n{"step":7}\n{"step":8}\n');
    expect(await tail.update()).toBe('reset');
    expect(rows).toHaveLength(4);
    rmSync(path);
    expect(await tail.update()).toBe('reset');
    expect(rows).toEqual([]);
  });
});
