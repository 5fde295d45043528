import type { Redis } from 'ioredis';
import type { z } from 'zod';
import {
  type RunRecord,
  recordKeys,
  runRecordSchema,
  type WorkerRecord,
  workerRecordSchema,
} from './protocol.ts';

/** The workers that are connected, oldest first. */
export async function listWorkers(redis: Redis): Promise<WorkerRecord[]> {
  const workers = await readRecords(redis, recordKeys.worker('*'), workerRecordSchema);
  return workers.sort((a, b) => a.since.localeCompare(b.since) || a.id.localeCompare(b.id));
}

/** The runs that send jobs now. */
export async function listRuns(redis: Redis): Promise<RunRecord[]> {
  const runs = await readRecords(redis, recordKeys.run('*'), runRecordSchema);
  return runs.sort((a, b) => a.id.localeCompare(b.id));
}

/** Records of other versions are left out. */
async function readRecords<T>(redis: Redis, pattern: string, schema: z.ZodType<T>): Promise<T[]> {
  const keys: string[] = [];
  for await (const found of redis.scanStream({ match: pattern, count: 1000 })) {
    keys.push(...(found as string[]));
  }
  const texts = keys.length === 0 ? [] : await redis.mget(...new Set(keys));
  return texts.flatMap((text) => {
    const { data } = schema.safeParse(parseJson(text ?? ''));
    return data === undefined ? [] : [data];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
