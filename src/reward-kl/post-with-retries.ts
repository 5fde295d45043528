import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '../engine/random/index.ts';
import { messageOf } from './reward-error.ts';

const LONGEST_WAIT = 30_000;

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Milliseconds before the first retry. */
  readonly backoff: number;
  /** Where the jitter comes from. */
  readonly random: RandomStream;
  readonly signal: AbortSignal;
}

type Attempt =
  | { readonly text: string }
  | { readonly failure: string; readonly mayPass: boolean; readonly cause?: unknown };

/** Posts JSON and gives the text of a good answer. What may pass by itself (no connection, no
 *  answer in time, status 429 or 5xx) is tried again; the rest is an error at once. */
export async function postWithRetries(
  url: URL,
  body: string,
  options: PostOptions,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await post(url, body, options);
    if ('text' in outcome) return outcome.text;
    const { failure, mayPass, cause } = outcome;
    if (!mayPass) throw new Error(`${publicAddress(url)} ${failure}`, { cause });
    if (attempt > options.retries) {
      const times = attempt === 1 ? 'once' : `${attempt} times`;
      throw new Error(`${publicAddress(url)} ${failure}, tried ${times}`, { cause });
    }
    await sleep(retryDelay(attempt, options), undefined, { signal: options.signal });
  }
}

/** Milliseconds to wait after the k-th failure, with u from the random stream.
 *  min(backoff·2^(k−1), 30 s)·(½ + u/2)
 *  @example backoff=500, k=3, u=½  →  2000·¾ = 1500 */
export function retryDelay(
  k: number,
  { backoff, random }: { readonly backoff: number; readonly random: Pick<RandomStream, 'next'> },
): number {
  return Math.min(backoff * 2 ** (k - 1), LONGEST_WAIT) * (0.5 + random.next() / 2);
}

async function post(
  url: URL,
  body: string,
  { headers, timeout, signal }: PostOptions,
): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    });
    const text = await response.text();
    return response.ok ? { text } : describeStatus(response.status, text);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      return { failure: `must answer within ${timeout} ms, got nothing`, mayPass: true, cause };
    }
    // What fetch throws has the reason as its cause.
    const reason = cause instanceof TypeError ? (cause.cause ?? cause) : cause;
    const { code = messageOf(reason) } = reason as NodeJS.ErrnoException;
    return { failure: `must be reachable, got ${code}`, mayPass: true, cause };
  }
}

function describeStatus(status: number, text: string): Attempt {
  const said = text.trim().replace(/\s+/g, ' ').slice(0, 200);
  const failure = `must answer with status 200, got ${status}${said === '' ? '' : ` (${said})`}`;
  return { failure, mayPass: status === 429 || status >= 500 };
}

/** An address without what may be secret in it. */
function publicAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
