import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { explainSystemError, syncFolder, syncTree } from '../../fs/index.ts';
import {
  type QueueHeader,
  queueHeaderSchema,
  type StoredTask,
  storedTaskSchema,
  toJsonLines,
} from './queue-schema.ts';

const names = { header: 'queue.json', tasks: 'tasks.jsonl', answers: 'answers.jsonl' } as const;

/** Valid folder names, which cannot lead outside. */
const idForm = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The contents of a queue's folder. */
export interface QueueContent {
  readonly header: QueueHeader;
  readonly tasks: readonly StoredTask[];
}

/** Path of a queue's answers. */
export function answersPath(folder: string): string {
  return join(folder, names.answers);
}

/** Whether a labels folder contains a queue with this id; invalid ids never reach the disk. */
export function hasQueue(labels: string, id: string): boolean {
  return idForm.test(id) && existsSync(join(labels, id, names.header));
}

/** Sorted ids of the queues in a labels folder; none if the folder is missing. */
export function listQueueIds(labels: string): string[] {
  if (!existsSync(labels)) return [];
  return readdirSync(labels)
    .filter((id) => hasQueue(labels, id))
    .sort();
}

/** Writes a queue atomically and returns its id. */
export async function writeQueue(labels: string, content: QueueContent): Promise<string> {
  const id = createId(content.header.name);
  const temporary = join(labels, `.${id}.tmp`);
  try {
    await mkdir(temporary, { recursive: true });
    const header = `${JSON.stringify(content.header, undefined, 2)}\n`;
    await writeFile(join(temporary, names.header), header);
    await writeFile(join(temporary, names.tasks), toJsonLines(content.tasks));
    await writeFile(join(temporary, names.answers), '');
    await syncTree(temporary);
    await rename(temporary, join(labels, id));
    await syncFolder(labels);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw explainSystemError(error, { action: 'save the queue', next: 'create it again' });
  }
  return id;
}

/** Reads a queue without its answers. */
export function readQueue(folder: string): QueueContent {
  const path = join(folder, names.header);
  const header = check(queueHeaderSchema, parseJson(readFileSync(path, 'utf8'), path), path);
  const tasks = join(folder, names.tasks);
  const lines = readFileSync(tasks, 'utf8').split('\n').slice(0, -1);
  const places = lines.map((line, i) => [line, `${tasks} line ${i + 1}`] as const);
  return {
    header,
    tasks: places.map(([line, place]) => check(storedTaskSchema, parseJson(line, place), place)),
  };
}

/** @example 'Nice answers?'  →  'nice-answers-3f9a2c' */
function createId(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-');
  const start = ascii.slice(0, 40).replace(/^-+|-+$/g, '');
  return `${start === '' ? 'queue' : start}-${randomBytes(3).toString('hex')}`;
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new SyntaxError(
      `Cannot read ${place}: it must be JSON (${message}); delete the queue or fix the file`,
      { cause },
    );
  }
}

function check<S extends z.ZodType>(schema: S, value: unknown, place: string): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw new TypeError(
    `Cannot read ${place}: it must match the format of the file (${issue.path.join('.')}: ${issue.message}); delete the queue or fix the file`,
  );
}
