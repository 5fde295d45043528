import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { appendJsonLines } from '../fs/index.ts';
import {
  type GrowingFile,
  type HumanScore,
  locateHumanFiles,
  readRequestLines,
  readScoreLines,
} from './live-human-files.ts';
import { RewardError } from './reward-error.ts';
import type { RewardSample, RewardSource, Score, ScoreContext } from './reward-source.ts';

export interface LiveHumanOptions {
  /** Score of a response that nobody scored in time; without it, such a response is an error. */
  readonly fallback?: number | undefined;
  /** Seconds without a new score after which nobody is waited for; for ever if not given. */
  readonly timeout?: number | undefined;
}

/** What the owner of a source tells it and wants to know. */
export interface LiveHumanListener {
  /** The step that asks, from 1. */
  readonly step: () => number;
  /** Told now and then of how many scores are missing, and at last that none is waited for. */
  readonly onWait: (missing: number) => Promise<void>;
  /** Told of lines that cannot be used. */
  readonly warn: (message: string) => Promise<void>;
}

/** Milliseconds between two looks for new scores. */
const INTERVAL = 100;

/**
 * Scores that people give while a run waits. For each response a line is added to `requests.jsonl` in
 * the folder, and its score is the mean of what labellers wrote about it into `scores.jsonl`. A
 * request's id comes from its step, place and texts: a resumed run finds the scores it already has.
 */
export class LiveHumanSource implements RewardSource {
  readonly name = 'human';
  /** People take their time. */
  readonly timeout = Infinity;
  private readonly files: ReturnType<typeof locateHumanFiles>;
  private readonly options: LiveHumanOptions;
  private readonly scoreLines: GrowingFile<HumanScore>;
  private readonly requestLines: ReturnType<typeof readRequestLines>;
  /** Ids of the requests that are open, as those of a killed process are. */
  private readonly waiting = new Set<string>();
  /** Scores by labeller, of each request. */
  private readonly given = new Map<string, Map<string, number>>();
  private listener: Partial<LiveHumanListener> = {};

  constructor(folder: string, options: LiveHumanOptions = {}) {
    this.files = locateHumanFiles(folder);
    this.options = options;
    this.scoreLines = readScoreLines(this.files.scores);
    this.requestLines = readRequestLines(this.files.requests);
  }

  listen(listener: LiveHumanListener): void {
    this.listener = listener;
  }

  async score(
    samples: readonly RewardSample[],
    { signal }: ScoreContext,
  ): Promise<readonly Score[]> {
    const step = this.listener.step?.();
    const ids = samples.map((sample) => requestId(sample, step));
    await this.request(samples, { ids, step });
    await this.waitFor(ids, signal);
    const { fallback } = this.options;
    const scores = ids.map((id) => this.meanOf(id) ?? fallback!);
    appendJsonLines(this.files.requests, [{ closed: ids, time: new Date().toISOString() }]);
    return scores;
  }

  /** Asks for scores, but for those that are asked for already. */
  private async request(
    samples: readonly RewardSample[],
    { ids, step }: { ids: readonly string[]; step: number | undefined },
  ): Promise<void> {
    await this.readRequests();
    const time = new Date().toISOString();
    const requests = samples.map(({ prompt, response }, i) => {
      return { id: ids[i]!, step, prompt, response, time };
    });
    const fresh = requests.filter(({ id }) => !this.waiting.has(id));
    if (fresh.length === 0) return;
    mkdirSync(dirname(this.files.requests), { recursive: true });
    appendJsonLines(this.files.requests, fresh);
  }

  private async readRequests(): Promise<void> {
    for (const record of (await this.requestLines.read()).records) {
      if ('id' in record) this.waiting.add(record.id);
      else for (const id of record.closed) this.waiting.delete(id);
    }
  }

  /** Returns once each request has a score, or where the missing ones have a fallback. */
  private async waitFor(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { timeout = Infinity, fallback } = this.options;
    let since = performance.now();
    for (;;) {
      if (await this.readScores()) since = performance.now();
      const missing = ids.filter((id) => this.meanOf(id) === undefined).length;
      const isLate = performance.now() - since >= 1000 * timeout;
      if (isLate && missing > 0 && fallback === undefined) throw describeLate(missing, timeout);
      const isDone = missing === 0 || isLate;
      await this.listener.onWait?.(isDone ? 0 : missing);
      signal.throwIfAborted();
      if (isDone) return;
      await setTimeout(INTERVAL, undefined, { signal });
    }
  }

  /** Whether there are new ones. */
  private async readScores(): Promise<boolean> {
    const { records, faults } = await this.scoreLines.read();
    for (const { request, labeller, score } of records) {
      const scores = this.given.get(request) ?? new Map<string, number>();
      if (score === null) scores.delete(labeller);
      else scores.set(labeller, score);
      this.given.set(request, scores);
    }
    for (const fault of faults) await this.listener.warn?.(fault);
    return records.length > 0;
  }

  private meanOf(id: string): number | undefined {
    const scores = [...(this.given.get(id)?.values() ?? [])];
    if (scores.length === 0) return undefined;
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  }
}

function requestId(sample: RewardSample, step = 0): string {
  const { promptIdx, sample: number, prompt, response } = sample;
  const key = JSON.stringify([step, promptIdx, number, prompt, response]);
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}

function describeLate(missing: number, timeout: number): RewardError {
  const responses = missing === 1 ? '1 response' : `${missing} responses`;
  return new RewardError(
    `Cannot score with "human": scores must come within ${timeout} s of each other, got none for ${responses}; ` +
      'score them and resume the run, raise humanTimeout, or set humanFallback',
  );
}
