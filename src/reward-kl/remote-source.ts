import { randomStream } from '../engine/random/index.ts';
import { checkScores } from './check-scores.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { postWithRetries } from './post-with-retries.ts';
import { messageOf, RewardError } from './reward-error.ts';
import type { RewardSample, RewardSource, Score, ScoreContext } from './reward-source.ts';

export interface RemoteSourceOptions {
  readonly url: string;
  /** The address's host and port if not given. */
  readonly name?: string | undefined;
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Samples in a request; 16 by default. */
  readonly batchSize?: number | undefined;
  /** Requests at once; 4 by default. */
  readonly concurrency?: number | undefined;
  /** Milliseconds that one attempt may take; 30 s by default. */
  readonly timeout?: number | undefined;
  /** Attempts after the first; 4 by default. */
  readonly retries?: number | undefined;
  /** Milliseconds before the first retry, doubled with each; 500 by default. */
  readonly backoff?: number | undefined;
  /** Of the jitter in these waits; 0 by default. */
  readonly seed?: number | undefined;
}

const defaults = {
  headers: {},
  batchSize: 16,
  concurrency: 4,
  timeout: 30_000,
  retries: 4,
  backoff: 500,
  seed: 0,
};

/**
 * Scores from a server. It is sent, as JSON by POST,
 * `{ "samples": [{ "prompt", "response", "finished", "tokens", "row" }, …] }`
 * with the response's ids as `tokens` and the data set's other columns, if any, as `row`, and answers
 * `{ "scores": [0.5, [0.1, 0.2], …] }`: for each sample a number, or one for each of its tokens.
 */
export class RemoteSource implements RewardSource {
  readonly name: string;
  /** Each request has a limit of its own. */
  readonly timeout = Infinity;
  private readonly url: URL;
  private readonly options: typeof defaults & Pick<RemoteSourceOptions, 'headers'>;
  private requests = 0;

  constructor({ url, name, ...options }: RemoteSourceOptions) {
    this.url = parseAddress(url);
    this.name = name ?? this.url.host;
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.options = { ...defaults, ...Object.fromEntries(given) };
    const { batchSize } = this.options;
    if (!Number.isInteger(batchSize) || batchSize < 1) {
      throw new RangeError(
        `Cannot use the reward server ${url}: batchSize must be a whole number ≥ 1, got ${batchSize}`,
      );
    }
  }

  async score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly Score[]> {
    const { batchSize, concurrency } = this.options;
    const starts = Array.from(
      { length: Math.ceil(samples.length / batchSize) },
      (_, i) => i * batchSize,
    );
    const scoreBatch = async (first: number) => {
      const batch = samples.slice(first, first + batchSize);
      const answer = this.readAnswer(await this.ask(batch, signal));
      for (const i of batch.keys()) onScored?.(first + i);
      return checkScores(answer, { name: this.name, samples: batch, first });
    };
    return (await mapConcurrently(starts, scoreBatch, { concurrency, signal })).flat();
  }

  private async ask(batch: readonly RewardSample[], signal: AbortSignal): Promise<string> {
    const samples = batch.map(({ prompt, response, finished, tokens, row }) => ({
      prompt,
      response,
      finished,
      tokens: Array.from(tokens),
      row,
    }));
    const random = randomStream(this.options.seed, 'reward retries', this.requests++);
    const options = { ...this.options, random, signal };
    try {
      return await postWithRetries(this.url, JSON.stringify({ samples }), options);
    } catch (cause) {
      signal.throwIfAborted();
      throw this.failure(messageOf(cause), cause);
    }
  }

  private readAnswer(text: string): unknown {
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      throw this.failure(`it must answer with JSON (${messageOf(cause)})`, cause);
    }
    if (typeof answer === 'object' && answer !== null && 'scores' in answer) return answer.scores;
    throw this.failure(`it must answer { "scores": [...] }, got ${text.trim().slice(0, 80)}`);
  }

  private failure(message: string, cause?: unknown): RewardError {
    return new RewardError(`Cannot score with "${this.name}": ${message}`, { cause });
  }
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new TypeError(
    `Cannot use the reward server ${address}: it must be an address such as http://localhost:8000/score`,
  );
}
