import { open } from 'node:fs/promises';
import { JsonlTail, readBytes, statIfExists } from '../../../fs/index.ts';
import { type LogRecord, parseRecord } from './log-record.ts';

/** Every record of a log, in its order; none where there is no file. */
export async function readRecords(path: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  const tail = new JsonlTail(path, {
    add(bytes) {
      const record = parseRecord(bytes);
      if (record !== undefined) records.push(record);
      return record !== undefined;
    },
    clear() {
      records.length = 0;
    },
  });
  await tail.update();
  return records;
}

/** Where a line lies in its file. */
export interface LinePlace {
  readonly offset: number;
  readonly size: number;
}

/** The records at places of a log; undefined where the file no longer has one. */
export async function readRecordsAt(
  path: string,
  places: readonly LinePlace[],
): Promise<(LogRecord | undefined)[]> {
  if (places.length === 0) return [];
  const file = await open(path);
  try {
    const records: (LogRecord | undefined)[] = [];
    for (const { offset, size } of places) {
      records.push(parseRecord(await readBytes(file, { from: offset, to: offset + size })));
    }
    return records;
  } finally {
    await file.close();
  }
}

const LAST_BYTES = 1 << 16;

/** The last records of a log, as many as a small part of it holds. */
export async function readLastRecords(path: string): Promise<LogRecord[]> {
  const stats = await statIfExists(path);
  if (stats === undefined) return [];
  const file = await open(path);
  try {
    const from = Math.max(0, stats.size - LAST_BYTES);
    const text = (await readBytes(file, { from, to: stats.size })).toString();
    const lines = text.split('\n').slice(from === 0 ? 0 : 1);
    return lines.flatMap((line) => parseRecord(Buffer.from(line)) ?? []);
  } finally {
    await file.close();
  }
}
