import type { LineSink } from '../../../fs/index.ts';
import type { SampleRow } from '../../api.ts';
import { type LinePosition, type LogRecord, parseRecord } from './log-records.ts';

/** Positions of the lines of `samples.jsonl`, and what queries need: the numbers, and the texts in lower
 *  case. Repeated prompts are stored once. */
export class SampleTable implements LineSink {
  private readonly samples: SampleRow[] = [];
  private readonly positions: LinePosition[] = [];
  private readonly prompts = new Map<string, string>();

  /** One row per line; texts are in lower case. */
  get rows(): readonly SampleRow[] {
    return this.samples;
  }

  add(bytes: Buffer, offset: number): boolean {
    const record = parseRecord(bytes);
    if (record === undefined) return false;
    const row = toSampleRow(record, this.samples.length);
    const prompt = row.prompt.toLowerCase();
    if (!this.prompts.has(prompt)) this.prompts.set(prompt, prompt);
    const response = row.response.toLowerCase();
    const turns = row.turns && withoutTexts(row.turns);
    this.samples.push({ ...row, prompt: this.prompts.get(prompt)!, response, turns });
    this.positions.push({ offset, size: bytes.length });
    return true;
  }

  clear(): void {
    this.samples.length = 0;
    this.positions.length = 0;
    this.prompts.clear();
  }

  positionOf(index: number): LinePosition | undefined {
    return this.positions[index];
  }

  /** Number of earlier rows with the same step, prompt and sample. */
  countEqual({ index, step, promptIdx, sample }: SampleRow): number {
    let count = 0;
    for (let i = index - 1; i >= 0 && this.samples[i]!.step === step; i--) {
      const row = this.samples[i]!;
      if (row.promptIdx === promptIdx && row.sample === sample) count++;
    }
    return count;
  }
}

/** A sample as the page sees it; missing fields of older formats are empty. */
export function toSampleRow(record: LogRecord, index: number): SampleRow {
  const { promptIdx, sample, prompt, response, score, kl, length, finished } = record;
  return {
    index,
    step: record.step,
    promptIdx: toNumber(promptIdx) ?? 0,
    sample: toNumber(sample) ?? 0,
    prompt: toText(prompt),
    response: toText(response),
    score: toNumber(score),
    sourceScores: toScores(record.sourceScores),
    kl: toNumber(kl),
    length: toNumber(length) ?? 0,
    finished: finished === true,
    turns: toTurns(record.turns),
    hasTokens: false,
  };
}

/** The turns of a conversation; other values are dropped. */
function toTurns(value: unknown): SampleRow['turns'] {
  if (!Array.isArray(value)) return null;
  return objectsOf(value).map(({ text, reward, calls, answers }) => ({
    text: toText(text),
    ...(typeof reward === 'number' && { reward }),
    calls: objectsOf(calls).map(({ tool, input, output, error, seconds }) => ({
      ...(typeof tool === 'string' && { tool }),
      input,
      output: toText(output),
      ...(typeof error === 'string' && { error }),
      seconds: toNumber(seconds) ?? 0,
    })),
    answers: objectsOf(answers).map((answer) => ({
      role: toText(answer.role),
      text: toText(answer.text),
    })),
  }));
}

/** What queries need of turns: the tools and errors of their calls. */
function withoutTexts(turns: NonNullable<SampleRow['turns']>): SampleRow['turns'] {
  return turns.map(({ calls }) => ({
    ...{ text: '', answers: [] },
    calls: calls.map(({ tool, error, seconds }) => ({ tool, error, seconds, output: '' })),
  }));
}

function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  const list = Array.isArray(value) ? value : [];
  return list.filter((item) => typeof item === 'object' && item !== null);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toScores(value: unknown): SampleRow['sourceScores'] {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value).filter(([, score]) => typeof score === 'number');
  return Object.fromEntries(entries);
}

function toNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

type SampleKey = Pick<SampleRow, 'step' | 'promptIdx' | 'sample'>;

/** The start of a line of `tokens.jsonl`, which identifies its sample without parsing the rest. */
const lineStart = /^\{"step":(\d+),"promptIdx":(\d+),"sample":(\d+),/;
const MAX_LINE_START = 100;

/** Positions of the tokens of each sample in `tokens.jsonl`. A step may use a prompt several times:
 *  lines with the same key are in the order of `samples.jsonl`. */
export class TokenIndex implements LineSink {
  private readonly positions = new Map<string, LinePosition[]>();

  add(bytes: Buffer, offset: number): boolean {
    const key = readKey(bytes);
    if (key === undefined) return false;
    const position = { offset, size: bytes.length };
    const positions = this.positions.get(key);
    if (positions === undefined) this.positions.set(key, [position]);
    else positions.push(position);
    return true;
  }

  clear(): void {
    this.positions.clear();
  }

  /** @param nth number of earlier samples with the same key */
  positionOf({ step, promptIdx, sample }: SampleKey, nth: number): LinePosition | undefined {
    return this.positions.get(`${step},${promptIdx},${sample}`)?.[nth];
  }
}

function readKey(bytes: Buffer): string | undefined {
  const match = lineStart.exec(bytes.toString('latin1', 0, MAX_LINE_START));
  if (match !== null) return match.slice(1).join(',');
  const record = parseRecord(bytes);
  if (record === undefined) return undefined;
  const { step, promptIdx, sample } = record;
  return [promptIdx, sample].every(Number.isSafeInteger)
    ? `${step},${promptIdx},${sample}`
    : undefined;
}
