import { randomStream } from '../engine/random/index.ts';
import {
  describeStatus,
  jsonHeaders,
  messageOf,
  sendWithRetries,
  withoutEcho,
  withoutSecrets,
} from '../http/index.ts';
import { mapConcurrently } from './function-source.ts';
import {
  RewardError,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
} from './reward-source.ts';
import { checkScores } from './score-samples.ts';

/** Address, headers and limits of a reward service. */
export interface RemoteSourceOptions {
  /** Credentials in it, as in `https://user:password@host/score`, are sent as basic authorisation. */
  readonly url: string;
  /** The host and port of the URL by default. */
  readonly name?: string | undefined;
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as bearer authorisation, unless the URL has credentials; `PROXIMAL_REWARD_TOKEN` by default. */
  readonly token?: string | undefined;
  /** Samples per request; 16 by default. */
  readonly batchSize?: number | undefined;
  /** Maximum number of pending requests; 4 by default. */
  readonly concurrency?: number | undefined;
  /** Seconds per attempt; 30 by default. */
  readonly timeout?: number | undefined;
  /** Attempts after the first; 4 by default. */
  readonly retries?: number | undefined;
  /** Seconds before the first retry, doubled for each further one; 0.5 by default. */
  readonly backoff?: number | undefined;
  /** Seed of the jitter in these delays; 0 by default. */
  readonly seed?: number | undefined;
}

/** Largest response of a reward server: a million scores per token take about 20 MiB. */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

const defaults = {
  batchSize: 16,
  concurrency: 4,
  timeout: 30,
  retries: 4,
  backoff: 0.5,
  seed: 0,
};

/**
 * Scores from an HTTP server. It receives a POST request with the JSON body
 * `{ "samples": [{ "prompt", "response", "finished", "tokens", "row" }, …] }`, where `row` contains the
 * dataset's other columns, if any, and responds with `{ "scores": [0.5, [0.1, 0.2], …] }`: for each
 * sample a number, or one number per token.
 */
export class RemoteSource implements RewardSource {
  readonly name: string;
  /** Each request has its own timeout. */
  readonly timeout = Infinity;
  private readonly url: URL;
  private readonly headers: Headers;
  private readonly options: typeof defaults;
  private requests = 0;

  constructor({ url, name, headers, token, ...options }: RemoteSourceOptions) {
    this.url = parseUrl(url);
    this.name = name ?? this.url.host;
    this.headers = jsonHeaders(this.url, token || process.env.PROXIMAL_REWARD_TOKEN);
    for (const [key, value] of Object.entries(headers ?? {})) this.headers.set(key, value);
    const defined = Object.entries(options).filter(([, value]) => value !== undefined);
    this.options = { ...defaults, ...Object.fromEntries(defined) };
    const { batchSize } = this.options;
    if (!Number.isInteger(batchSize) || batchSize < 1) {
      throw new RangeError(
        `Cannot use the reward server ${withoutSecrets(this.url)}: batchSize must be a whole number ≥ 1, got ${batchSize}`,
      );
    }
  }

  async score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const { batchSize, concurrency } = this.options;
    const starts = Array.from(
      { length: Math.ceil(samples.length / batchSize) },
      (_, i) => i * batchSize,
    );
    const scoreBatch = async (first: number) => {
      const batch = samples.slice(first, first + batchSize);
      const scores = this.parseScores(await this.request(batch, signal));
      for (const i of batch.keys()) onScored?.(first + i);
      return checkScores(scores, { name: this.name, samples: batch, first });
    };
    return (await mapConcurrently(starts, scoreBatch, { concurrency, signal })).flat();
  }

  private async request(batch: readonly RewardSample[], signal: AbortSignal): Promise<string> {
    const samples = batch.map(({ prompt, response, finished, tokens, row }) => ({
      prompt,
      response,
      finished,
      tokens: Array.from(tokens),
      row,
    }));
    const random = randomStream(this.options.seed, 'reward retries', this.requests++);
    const limits = { ...this.options, maxBytes: MAX_RESPONSE_BYTES };
    const options = { ...limits, headers: this.headers, random, signal };
    const body = JSON.stringify({ samples });
    try {
      const answer = await sendWithRetries(this.url, { method: 'POST', body }, options);
      if (answer.status >= 200 && answer.status < 300) return answer.text;
      throw new Error(`${withoutSecrets(this.url)} ${describeStatus(answer)}`);
    } catch (cause) {
      signal.throwIfAborted();
      throw this.failure(messageOf(cause), cause);
    }
  }

  private parseScores(text: string): unknown {
    const { url, headers } = this;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (cause) {
      const reason = withoutEcho(messageOf(cause), { url, headers });
      throw this.failure(`it must respond with JSON (${reason})`, cause);
    }
    if (typeof body === 'object' && body !== null && 'scores' in body) return body.scores;
    const start = withoutEcho(text, { url, headers }).trim().slice(0, 80);
    throw this.failure(`it must respond with { "scores": [...] }, got ${start}`);
  }

  private failure(message: string, cause?: unknown): RewardError {
    return new RewardError(`Cannot score with "${this.name}": ${message}`, { cause });
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new TypeError(
    `Cannot use the reward server ${withoutSecrets(text)}: it must be a URL such as http://localhost:8000/score`,
  );
}
