import type { LineSink } from '../../../fs/index.ts';
import type { SampleRow } from '../../api.ts';
import { type LogRecord, parseRecord } from './log-record.ts';
import type { LinePlace } from './read-records.ts';

/** Where the lines of `samples.jsonl` lie, and what queries look at: the numbers, and the texts in
 *  small letters. Prompts come again and again, and are held once. */
export class SampleTable implements LineSink {
  private readonly found: SampleRow[] = [];
  private readonly places: LinePlace[] = [];
  private readonly prompts = new Map<string, string>();

  /** One for each line; texts are in small letters. */
  get rows(): readonly SampleRow[] {
    return this.found;
  }

  add(bytes: Buffer, offset: number): boolean {
    const record = parseRecord(bytes);
    if (record === undefined) return false;
    const row = toSampleRow(record, this.found.length);
    const prompt = row.prompt.toLowerCase();
    if (!this.prompts.has(prompt)) this.prompts.set(prompt, prompt);
    const response = row.response.toLowerCase();
    this.found.push({ ...row, prompt: this.prompts.get(prompt)!, response });
    this.places.push({ offset, size: bytes.length });
    return true;
  }

  clear(): void {
    this.found.length = 0;
    this.places.length = 0;
    this.prompts.clear();
  }

  placeOf(index: number): LinePlace | undefined {
    return this.places[index];
  }

  /** Rows before this one with its step, prompt and sample. */
  countEqual({ index, step, promptIdx, sample }: SampleRow): number {
    let count = 0;
    for (let i = index - 1; i >= 0 && this.found[i]!.step === step; i--) {
      const row = this.found[i]!;
      if (row.promptIdx === promptIdx && row.sample === sample) count++;
    }
    return count;
  }
}

/** A sample as pages see it; what an older format lacks is empty. */
export function toSampleRow(record: LogRecord, index: number): SampleRow {
  const { promptIdx, sample, prompt, response, score, kl, length, finished } = record;
  return {
    index,
    step: record.step,
    promptIdx: toNumber(promptIdx) ?? 0,
    sample: toNumber(sample) ?? 0,
    prompt: typeof prompt === 'string' ? prompt : '',
    response: typeof response === 'string' ? response : '',
    score: toNumber(score),
    kl: toNumber(kl),
    length: toNumber(length) ?? 0,
    finished: finished === true,
    hasTokens: false,
  };
}

function toNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
