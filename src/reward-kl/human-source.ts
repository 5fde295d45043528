import { readRegularText, UnusableFileError } from '../fs/index.ts';
import {
  messageOf,
  RewardError,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
} from './reward-source.ts';

/** Name of a source of recorded human scores, and its score for unscored responses. */
export interface HumanSourceOptions {
  /** `human` by default. */
  readonly name?: string | undefined;
  /** Score of an unscored response; if missing, an unscored response is an error. */
  readonly fallback?: number | undefined;
}

interface ScoredText {
  readonly prompt: string;
  readonly response: string;
  readonly score: number;
}

interface ScoreTotal {
  sum: number;
  count: number;
}

/** Human scores from a JSON Lines file of { prompt, response, score }. A response is looked up by its
 *  exact text; several scores of the same text are averaged. */
export class HumanSource implements RewardSource {
  readonly name: string;
  private readonly file: string;
  private readonly fallback: number | undefined;
  private readonly totals = new Map<string, ScoreTotal>();

  private constructor(file: string, { name = 'human', fallback }: HumanSourceOptions) {
    this.file = file;
    this.name = name;
    this.fallback = fallback;
  }

  /** Reads a file of human scores; throws if a line is invalid. */
  static async load(file: string, options: HumanSourceOptions = {}): Promise<HumanSource> {
    const source = new HumanSource(file, options);
    for (const scored of await readScoredTexts(file)) source.add(scored);
    return source;
  }

  async score(
    samples: readonly RewardSample[],
    _context?: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    return samples.map((sample, index) => {
      const total = this.totals.get(keyOf(sample));
      if (total !== undefined) return total.sum / total.count;
      if (this.fallback !== undefined) return this.fallback;
      throw new RewardError(
        `Cannot score sample ${index} with "${this.name}": ${this.file} must contain its score, got none for ` +
          `the response ${quote(sample.response)} to ${quote(sample.prompt)}; add a line, or set a fallback score`,
      );
    });
  }

  private add(scored: ScoredText): void {
    const total = this.totals.get(keyOf(scored)) ?? { sum: 0, count: 0 };
    total.sum += scored.score;
    total.count++;
    this.totals.set(keyOf(scored), total);
  }
}

async function readScoredTexts(file: string): Promise<ScoredText[]> {
  const text = await readRegularText(file).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof UnusableFileError) throw cause;
    const got = cause.code === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new Error(`Cannot read ${file}: it must be a JSON Lines file, got ${got}`, { cause });
  });
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  return lines.flatMap((line, i) =>
    line.trim() === '' ? [] : [parseScoredText(line, `${file} line ${i + 1}`)],
  );
}

function parseScoredText(line: string, place: string): ScoredText {
  const { prompt, response, score } = parseLine(line, place);
  for (const [key, value] of Object.entries({ prompt, response })) {
    if (typeof value !== 'string') {
      throw new TypeError(`Cannot read ${place}: "${key}" must be a string, got ${show(value)}`);
    }
  }
  if (typeof score !== 'number' || !Number.isFinite(score)) {
    throw new TypeError(`Cannot read ${place}: "score" must be a number, got ${show(score)}`);
  }
  return { prompt, response, score } as ScoredText;
}

function parseLine(line: string, place: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new SyntaxError(`Cannot read ${place}: it must be JSON (${messageOf(cause)})`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new TypeError(`Cannot read ${place}: it must be an object, got ${show(value)}`);
}

function keyOf({ prompt, response }: Pick<RewardSample, 'prompt' | 'response'>): string {
  return JSON.stringify([prompt, response]);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 40);
}
