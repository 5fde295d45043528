import { JsonlTail, openOwnFile, readBytes } from '../../../fs/index.ts';

/** A line of a run's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly step: number };

/** Parses a line of JSON; undefined if it is not an object with a step. */
export function parseRecord(bytes: Buffer): LogRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { step } = value as { step?: unknown };
  return Number.isSafeInteger(step) ? (value as LogRecord) : undefined;
}

/** All records of a log in order; none if the file is missing. */
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

/** Position of a line in its file. */
export interface LinePosition {
  readonly offset: number;
  readonly size: number;
}

/** The records at the given positions; undefined if the file no longer has one there. */
export async function readRecordsAt(
  path: string,
  positions: readonly LinePosition[],
): Promise<(LogRecord | undefined)[]> {
  if (positions.length === 0) return [];
  const file = await openOwnFile(path);
  if (file === undefined) return positions.map(() => undefined);
  try {
    const records: (LogRecord | undefined)[] = [];
    for (const { offset, size } of positions) {
      records.push(parseRecord(await readBytes(file, { from: offset, to: offset + size })));
    }
    return records;
  } finally {
    await file.close();
  }
}

const LAST_BYTES = 1 << 16;

/** The last records of a log, from its last 64 KiB. */
export async function readLastRecords(path: string): Promise<LogRecord[]> {
  const file = await openOwnFile(path);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - LAST_BYTES);
    const text = (await readBytes(file, { from, to: size })).toString();
    const lines = text.split('\n').slice(from === 0 ? 0 : 1);
    return lines.flatMap((line) => parseRecord(Buffer.from(line)) ?? []);
  } finally {
    await file.close();
  }
}
