import querystring from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RandomStream, randomStream } from '../engine/random/index.ts';
import { mapConcurrently } from './function-source.ts';
import {
  messageOf,
  RewardError,
  type RewardSample,
  type RewardScore,
  type RewardSource,
  type ScoreContext,
} from './reward-source.ts';
import { checkScores, toTimer } from './score-samples.ts';

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
    this.headers = new Headers({ 'content-type': 'application/json' });
    const authorization = authorizationOf(this.url, token || process.env.PROXIMAL_REWARD_TOKEN);
    if (authorization !== undefined) this.headers.set('authorization', authorization);
    for (const [key, value] of Object.entries(headers ?? {})) this.headers.set(key, value);
    // fetch rejects a URL with credentials.
    this.url.username = '';
    this.url.password = '';
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
    const options = { ...this.options, headers: this.headers, random, signal };
    try {
      return await postWithRetries(this.url, JSON.stringify({ samples }), options);
    } catch (cause) {
      signal.throwIfAborted();
      throw this.failure(messageOf(cause), cause);
    }
  }

  private parseScores(text: string): unknown {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (cause) {
      throw this.failure(`it must respond with JSON (${messageOf(cause)})`, cause);
    }
    if (typeof body === 'object' && body !== null && 'scores' in body) return body.scores;
    throw this.failure(`it must respond with { "scores": [...] }, got ${text.trim().slice(0, 80)}`);
  }

  private failure(message: string, cause?: unknown): RewardError {
    return new RewardError(`Cannot score with "${this.name}": ${message}`, { cause });
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new TypeError(
    `Cannot use the reward server ${text}: it must be a URL such as http://localhost:8000/score`,
  );
}

/** The authorisation for a server: the credentials of its URL, else the token. */
function authorizationOf({ username, password }: URL, token?: string): string | undefined {
  if (username === '' && password === '') return token ? `Bearer ${token}` : undefined;
  const credentials = `${querystring.unescape(username)}:${querystring.unescape(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** Seconds. */
const MAX_DELAY = 30;

interface PostOptions {
  readonly headers: Headers;
  /** Seconds per attempt. */
  readonly timeout: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Seconds before the first retry. */
  readonly backoff: number;
  /** Source of the jitter. */
  readonly random: RandomStream;
  readonly signal: AbortSignal;
}

type Attempt =
  | { readonly text: string }
  | { readonly failure: string; readonly isTransient: boolean; readonly cause?: unknown };

/** Posts JSON and returns the text of a successful response. Retries transient failures (no connection,
 *  timeout, status 429 or 5xx); any other failure is an error immediately. */
async function postWithRetries(url: URL, body: string, options: PostOptions): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await post(url, body, options);
    if ('text' in outcome) return outcome.text;
    const { failure, isTransient, cause } = outcome;
    if (!isTransient) throw new Error(`${withoutSecrets(url)} ${failure}`, { cause });
    if (attempt > options.retries) {
      const times = attempt === 1 ? 'once' : `${attempt} times`;
      throw new Error(`${withoutSecrets(url)} ${failure}, tried ${times}`, { cause });
    }
    await sleep(1000 * retryDelay(attempt, options), undefined, { signal: options.signal });
  }
}

/** Seconds to wait after the k-th failure, with u uniform in [0, 1).
 *  min(backoff·2^(k−1), 30 s)·(½ + u/2)
 *  @example backoff=0.5, k=3, u=½  →  2·¾ = 1.5 */
export function retryDelay(
  k: number,
  { backoff, random }: { readonly backoff: number; readonly random: Pick<RandomStream, 'next'> },
): number {
  return Math.min(backoff * 2 ** (k - 1), MAX_DELAY) * (0.5 + random.next() / 2);
}

async function post(
  url: URL,
  body: string,
  { headers, timeout, signal }: PostOptions,
): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(toTimer(timeout))]),
    });
    const text = await response.text();
    return response.ok ? { text } : describeStatus(response.status, text);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      return {
        failure: `must respond within ${timeout} s, got nothing`,
        isTransient: true,
        cause,
      };
    }
    // The cause of what fetch throws is the actual reason.
    const reason = cause instanceof TypeError ? (cause.cause ?? cause) : cause;
    const { code = messageOf(reason) } = reason as NodeJS.ErrnoException;
    return { failure: `must be reachable, got ${code}`, isTransient: true, cause };
  }
}

function describeStatus(status: number, text: string): Attempt {
  const body = text.trim().replace(/\s+/g, ' ').slice(0, 200);
  const failure = `must respond with status 200, got ${status}${body === '' ? '' : ` (${body})`}`;
  return { failure, isTransient: status === 429 || status >= 500 };
}

/** A URL without credentials and query, which may be secret. */
function withoutSecrets({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
