import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../../../test/helpers/runtime-temp-folder.ts';
import { readLastRecords, readRecords, readRecordsAt } from './log-records.ts';

describe('log records', () => {
  test('can be read from the start, by position and from the end', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    expect(await readRecords(path)).toEqual([]);
    expect(await readLastRecords(path)).toEqual([]);
    writeFileSync(path, '{"step":1}\n{"step":22}\n{"step":3');
    expect(await readRecords(path)).toEqual([{ step: 1 }, { step: 22 }]);
    expect(await readLastRecords(path)).toEqual([{ step: 1 }, { step: 22 }]);
    const places = [
      { offset: 11, size: 11 },
      { offset: 50, size: 5 },
    ];
    expect(await readRecordsAt(path, places)).toEqual([{ step: 22 }, undefined]);
    const filler = `${JSON.stringify({ step: 4, text: 'x'.repeat(70_000) })}\n`;
    writeFileSync(path, `{"step":1}\n${filler}{"step":5}\n`);
    expect(await readLastRecords(path)).toEqual([{ step: 5 }]);
  });
});
