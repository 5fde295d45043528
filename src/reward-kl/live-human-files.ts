import { join } from 'node:path';
import { z } from 'zod';
import { JsonlTail } from '../fs/index.ts';

/** A response that people should score. */
const humanRequestSchema = z.object({
  id: z.string(),
  /** The requesting step, counted from 1. */
  step: z.int().optional(),
  prompt: z.string(),
  response: z.string(),
  time: z.string(),
});

/** Requests that are closed because their scores have been used. */
const closingSchema = z.object({ closed: z.array(z.string()), time: z.string() });

/** One person's score; null retracts that person's earlier score. */
export const humanScoreSchema = z.object({
  request: z.string(),
  score: z.number().nullable(),
  labeller: z.string().min(1),
  note: z.string().optional(),
  time: z.string(),
});

/** One response that waits for a human score: a line of requests.jsonl. */
export type HumanRequest = Readonly<z.output<typeof humanRequestSchema>>;
/** One human score: a line of scores.jsonl. */
export type HumanScore = Readonly<z.output<typeof humanScoreSchema>>;

/** Paths of the files of live human scores in a folder. */
export function locateHumanFiles(folder: string) {
  return { requests: join(folder, 'requests.jsonl'), scores: join(folder, 'scores.jsonl') };
}

/** Reads `requests.jsonl` as it grows. */
export function readRequestLines(path: string) {
  const expected = 'a request ({ id, prompt, response, time })';
  return new GrowingFile(path, { schema: z.union([humanRequestSchema, closingSchema]), expected });
}

/** Reads `scores.jsonl` as it grows. */
export function readScoreLines(path: string) {
  const expected = 'a score ({ request, score, labeller, time })';
  return new GrowingFile(path, { schema: humanScoreSchema, expected });
}

interface NewLines<T> {
  readonly records: readonly T[];
  /** One sentence per invalid line. */
  readonly problems: readonly string[];
}

/** A JSON Lines file that other processes write to while it is read. */
export class GrowingFile<T> {
  private readonly path: string;
  private readonly schema: z.ZodType<T>;
  private readonly expected: string;
  private readonly tail: JsonlTail;
  private records: T[] = [];
  private problems: string[] = [];

  constructor(path: string, { schema, expected }: { schema: z.ZodType<T>; expected: string }) {
    this.path = path;
    this.schema = schema;
    this.expected = expected;
    // Records already returned stay valid even if the file is truncated.
    this.tail = new JsonlTail(path, {
      add: (bytes) => this.add(bytes.toString()),
      clear: () => {},
    });
  }

  /** Lines added since the last call. An incomplete line is left for the next call. */
  async read(): Promise<NewLines<T>> {
    await this.tail.update();
    const { records, problems } = this;
    this.records = [];
    this.problems = [];
    return { records, problems };
  }

  private add(text: string): boolean {
    if (text.trim() === '') return true;
    const record = this.parse(text);
    if (record !== undefined) this.records.push(record);
    else this.problems.push(this.describe(text));
    return record !== undefined;
  }

  private parse(text: string): T | undefined {
    try {
      return this.schema.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  private describe(text: string): string {
    return `Skipping ${this.path} line ${this.tail.lines}: it must be ${this.expected}, got ${JSON.stringify(text.slice(0, 40))}`;
  }
}
