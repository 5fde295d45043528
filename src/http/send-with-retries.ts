import querystring from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '../engine/random/index.ts';
import { messageOf } from './message-of.ts';
import { retryDelay, toTimer } from './timing.ts';
import { withoutEcho, withoutSecrets } from './url-secrets.ts';

/** What is sent to a server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly body?: string | undefined;
}

/** What a server responded. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Limits of a request. */
export interface RetryOptions {
  readonly headers: Headers;
  /** Seconds per attempt. */
  readonly timeout: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Seconds before the first retry. */
  readonly backoff: number;
  /** Source of the jitter. */
  readonly random: Pick<RandomStream, 'next'>;
  readonly signal: AbortSignal;
  /** Largest response in bytes, after decompression. */
  readonly maxBytes: number;
  /** Whether a status is worth another attempt; 429 and 5xx by default. */
  readonly isTransient?: ((status: number) => boolean) | undefined;
}

/** Why there is no response. */
interface SendFailure {
  /** To follow the URL, such as `must be reachable, got ECONNREFUSED`. */
  readonly failure: string;
  readonly cause?: unknown;
  /** Whether another attempt would fail too. */
  readonly isFinal?: boolean;
}

/** Sends a request and returns the response. Retries transient failures: no connection, a timeout, or a
 *  status such as 503. Throws if the last attempt fails so, or if a response is too large; any other
 *  response is returned. */
export async function sendWithRetries(
  url: URL,
  request: HttpRequest,
  options: RetryOptions,
): Promise<HttpAnswer> {
  const { isTransient = (status: number) => status === 429 || status >= 500 } = options;
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(url, request, options);
    if ('status' in outcome && !isTransient(outcome.status)) return outcome;
    const failed = 'status' in outcome ? { failure: describeStatus(outcome) } : outcome;
    const { failure, cause, isFinal = false }: SendFailure = failed;
    if (isFinal) throw new Error(`${withoutSecrets(url)} ${failure}`);
    if (attempt > options.retries) {
      const times = attempt === 1 ? 'once' : `${attempt} times`;
      throw new Error(`${withoutSecrets(url)} ${failure}, tried ${times}`, { cause });
    }
    await sleep(1000 * retryDelay(attempt, options), undefined, { signal: options.signal });
  }
}

async function send(
  url: URL,
  request: HttpRequest,
  { headers, timeout, signal, maxBytes }: RetryOptions,
): Promise<HttpAnswer | SendFailure> {
  try {
    const response = await fetch(url, {
      method: request.method,
      headers,
      ...(request.body !== undefined && { body: request.body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(toTimer(timeout))]),
    });
    const { status } = response;
    const text = await readText(response, maxBytes);
    if (text === undefined) {
      const limit = `${maxBytes / 2 ** 20} MiB`;
      return { failure: `must respond with at most ${limit}, got more`, isFinal: true };
    }
    return { status, text: response.ok ? text : withoutEcho(text, { url, headers }) };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      return { failure: `must respond within ${timeout} s, got nothing`, cause };
    }
    // The cause of what fetch throws is the actual reason.
    const reason = cause instanceof TypeError ? (cause.cause ?? cause) : cause;
    const { code = messageOf(reason) } = reason as NodeJS.ErrnoException;
    return { failure: `must be reachable, got ${code}`, cause };
  }
}

/** The text of a response; undefined if it is too large, which closes the connection. */
async function readText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Describes a response that is not a success.
 *  @example status 500, 'busy'  →  'must respond with status 200, got 500 (busy)' */
export function describeStatus({ status, text }: HttpAnswer): string {
  const body = text.trim().replace(/\s+/g, ' ').slice(0, 200);
  return `must respond with status 200, got ${status}${body === '' ? '' : ` (${body})`}`;
}

/** Headers of JSON requests to a URL: authorised by its credentials, which are removed from it because
 *  fetch rejects them, else by the token. */
export function jsonHeaders(url: URL, token: string | undefined): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  const { username, password } = url;
  if (username !== '' || password !== '') {
    const credentials = `${querystring.unescape(username)}:${querystring.unescape(password)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  } else if (token) {
    headers.set('authorization', `Bearer ${token}`);
  }
  url.username = '';
  url.password = '';
  return headers;
}
