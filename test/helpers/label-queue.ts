import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabelTask, LabelTaskKind } from '../../src/dashboard/api.ts';
import { answersPath, writeQueue } from '../../src/dashboard/labels/queue-folder.ts';
import type { StoredQueue } from '../../src/dashboard/labels/stored-queue.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

const sizes = { pair: 2, rating: 1, ranking: 3 } as const;

/** The folder of a queue with `count` tasks; responses are `<task>.<place>`. */
export async function makeLabelQueue(
  kind: LabelTaskKind,
  count: number,
  labels = makeTempFolder(),
): Promise<string> {
  mkdirSync(labels, { recursive: true });
  const tasks = Array.from({ length: count }, (_, i) => ({
    id: String(i + 1),
    prompt: `prompt ${i + 1}`,
    responses: Array.from({ length: sizes[kind] }, (_, place) => ({
      text: `${i + 1}.${place}`,
      from: { place },
    })),
  }));
  const source = { from: 'file', file: 'a.jsonl' };
  const header = { name: 'Test', kind, source, createdAt: new Date().toISOString() };
  return join(labels, await writeQueue(labels, { header, tasks }));
}

/** The answers in a queue's folder. */
export function readAnswerRows(folder: string) {
  const lines = readFileSync(answersPath(folder), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Chooses the response that ends with `.0` at either position. */
export async function chooseFirst(queue: StoredQueue, labeller: string): Promise<LabelTask> {
  const task = (await queue.next(labeller))!;
  const choice = task.responses.findIndex((text) => text.endsWith('.0')) as 0 | 1;
  await queue.answer({ task: task.id, labeller, answer: { kind: 'pair', choice } });
  return task;
}
