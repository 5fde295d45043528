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
import {
  RewardError,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
} from './reward-source.ts';

/** How long to wait for humans, and the score used if none arrives. */
export interface LiveHumanOptions {
  /** Score of a response that was not scored in time; if missing, that is an error. */
  readonly fallback?: number | undefined;
  /** Appears in metric names; `human` by default. */
  readonly name?: string | undefined;
  /** Seconds without a new score after which the source stops waiting; no limit by default. */
  readonly timeout?: number | undefined;
}

/** How a run informs the source, and is informed by it. */
export interface LiveHumanListener {
  /** The current step, counted from 1. */
  readonly step: () => number;
  /** Called periodically with the number of missing scores, and finally with 0. */
  readonly onWait: (missing: number) => Promise<void>;
  /** Called with a sentence about each invalid line. */
  readonly warn: (message: string) => Promise<void>;
}

/** Milliseconds between checks for new scores. */
const POLL_INTERVAL = 100;

/**
 * Human scores that arrive while a run waits. Each response becomes a line of `requests.jsonl` in the
 * folder, and its score is the mean of the labellers' lines about it in `scores.jsonl`. A request's id
 * is a hash of its step, indices and texts, so a resumed run finds the scores it already has.
 */
export class LiveHumanSource implements RewardSource {
  readonly name: string;
  /** Waiting for people is not hanging. */
  readonly timeout = Infinity;
  private readonly files: ReturnType<typeof locateHumanFiles>;
  private readonly options: LiveHumanOptions;
  private readonly scoreLines: GrowingFile<HumanScore>;
  private readonly requestLines: ReturnType<typeof readRequestLines>;
  /** Ids of open requests, including those of a killed process. */
  private readonly open = new Set<string>();
  /** Scores by request and labeller. */
  private readonly scores = new Map<string, Map<string, number>>();
  private listener: Partial<LiveHumanListener> = {};

  constructor(folder: string, options: LiveHumanOptions = {}) {
    this.name = options.name ?? 'human';
    this.files = locateHumanFiles(folder);
    this.options = options;
    this.scoreLines = readScoreLines(this.files.scores);
    this.requestLines = readRequestLines(this.files.requests);
  }

  /** Sets the listener that is notified of new requests and scores. */
  listen(listener: LiveHumanListener): void {
    this.listener = listener;
  }

  async score(
    samples: readonly RewardSample[],
    { signal }: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const step = this.listener.step?.();
    const ids = samples.map((sample) => requestId(sample, step));
    await this.request(samples, { ids, step });
    await this.waitFor(ids, signal);
    const { fallback } = this.options;
    const scores = ids.map((id) => this.meanOf(id) ?? fallback!);
    appendJsonLines(this.files.requests, [{ closed: ids, time: new Date().toISOString() }]);
    return scores;
  }

  /** Writes requests that are not open yet. */
  private async request(
    samples: readonly RewardSample[],
    { ids, step }: { ids: readonly string[]; step: number | undefined },
  ): Promise<void> {
    await this.readRequests();
    const time = new Date().toISOString();
    const requests = samples.map(({ prompt, response }, i) => {
      return { id: ids[i]!, step, prompt, response, time };
    });
    const added = requests.filter(({ id }) => !this.open.has(id));
    if (added.length === 0) return;
    mkdirSync(dirname(this.files.requests), { recursive: true });
    appendJsonLines(this.files.requests, added);
  }

  private async readRequests(): Promise<void> {
    for (const record of (await this.requestLines.read()).records) {
      if ('id' in record) this.open.add(record.id);
      else for (const id of record.closed) this.open.delete(id);
    }
  }

  /** Returns when every request has a score, or when the timeout passes and there is a fallback. */
  private async waitFor(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { timeout = Infinity, fallback } = this.options;
    let since = performance.now();
    for (;;) {
      if (await this.readScores()) since = performance.now();
      const missing = ids.filter((id) => this.meanOf(id) === undefined).length;
      const isLate = performance.now() - since >= 1000 * timeout;
      if (isLate && missing > 0 && fallback === undefined) throw timeoutError(missing, timeout);
      const isDone = missing === 0 || isLate;
      await this.listener.onWait?.(isDone ? 0 : missing);
      signal.throwIfAborted();
      if (isDone) return;
      await setTimeout(POLL_INTERVAL, undefined, { signal });
    }
  }

  /** Whether there are new scores. */
  private async readScores(): Promise<boolean> {
    const { records, problems } = await this.scoreLines.read();
    for (const { request, labeller, score } of records) {
      const scores = this.scores.get(request) ?? new Map<string, number>();
      if (score === null) scores.delete(labeller);
      else scores.set(labeller, score);
      this.scores.set(request, scores);
    }
    for (const problem of problems) await this.listener.warn?.(problem);
    return records.length > 0;
  }

  private meanOf(id: string): number | undefined {
    const scores = [...(this.scores.get(id)?.values() ?? [])];
    if (scores.length === 0) return undefined;
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  }
}

function requestId(sample: RewardSample, step = 0): string {
  const { promptIdx, sample: number, prompt, response } = sample;
  const key = JSON.stringify([step, promptIdx, number, prompt, response]);
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}

function timeoutError(missing: number, timeout: number): RewardError {
  const responses = missing === 1 ? '1 response' : `${missing} responses`;
  return new RewardError(
    `Cannot score with "human": scores must arrive within ${timeout} s of each other, got none for ${responses}; ` +
      'score them and resume the run, raise humanTimeout, or set humanFallback',
  );
}
