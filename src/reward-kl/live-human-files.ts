import { join } from 'node:path';
import { z } from 'zod';
import { JsonlTail } from '../fs/index.ts';

/** A response that a run wants people to score. */
const humanRequestSchema = z.object({
  id: z.string(),
  /** The step that asks, from 1. */
  step: z.int().optional(),
  prompt: z.string(),
  response: z.string(),
  time: z.string(),
});

/** Requests that are no longer open: their scores are taken. */
const closingSchema = z.object({ closed: z.array(z.string()), time: z.string() });

/** What a person gave; null takes back what the same person gave before. */
export const humanScoreSchema = z.object({
  request: z.string(),
  score: z.number().nullable(),
  labeller: z.string().min(1),
  note: z.string().optional(),
  time: z.string(),
});

export type HumanRequest = Readonly<z.output<typeof humanRequestSchema>>;
export type HumanScore = Readonly<z.output<typeof humanScoreSchema>>;

/** The files of live human scores in their folder. */
export function locateHumanFiles(folder: string) {
  return { requests: join(folder, 'requests.jsonl'), scores: join(folder, 'scores.jsonl') };
}

/** Lines of `requests.jsonl`. */
export function readRequestLines(path: string) {
  const what = 'a request ({ id, prompt, response, time })';
  return new GrowingFile(path, { schema: z.union([humanRequestSchema, closingSchema]), what });
}

/** Lines of `scores.jsonl`. */
export function readScoreLines(path: string) {
  const what = 'a score ({ request, score, labeller, time })';
  return new GrowingFile(path, { schema: humanScoreSchema, what });
}

interface Lines<T> {
  readonly records: readonly T[];
  /** One sentence for each line that is no such record. */
  readonly faults: readonly string[];
}

/** A JSON Lines file that others write while it is read. */
export class GrowingFile<T> {
  private readonly path: string;
  private readonly schema: z.ZodType<T>;
  private readonly what: string;
  private readonly tail: JsonlTail;
  private records: T[] = [];
  private faults: string[] = [];

  constructor(path: string, { schema, what }: { schema: z.ZodType<T>; what: string }) {
    this.path = path;
    this.schema = schema;
    this.what = what;
    // What was taken stays taken, also where the file begins anew.
    this.tail = new JsonlTail(path, {
      add: (bytes) => this.add(bytes.toString()),
      clear: () => {},
    });
  }

  /** What has come since the last call. A line without its end is left for the next. */
  async read(): Promise<Lines<T>> {
    await this.tail.update();
    const { records, faults } = this;
    this.records = [];
    this.faults = [];
    return { records, faults };
  }

  private add(text: string): boolean {
    if (text.trim() === '') return true;
    const record = this.parse(text);
    if (record !== undefined) this.records.push(record);
    else this.faults.push(this.describe(text));
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
    return `Passing over ${this.path} line ${this.tail.lines}: it must be ${this.what}, got ${JSON.stringify(text.slice(0, 40))}`;
  }
}
