import type { z } from 'zod';
import { randomStream } from '../engine/random/index.ts';
import {
  describeStatus,
  type HttpAnswer,
  jsonHeaders,
  messageOf,
  sendWithRetries,
  withoutSecrets,
} from '../http/index.ts';
import type { SignalOptions } from './server-protocol.ts';

/** Limits of requests to a rollout server. */
export interface ConnectionLimits {
  /** Seconds per attempt; 300 by default. */
  readonly timeout?: number | undefined;
  /** Attempts after the first; 10 by default, which is about two minutes. */
  readonly retries?: number | undefined;
  /** Seconds before the first retry, doubled for each further one; 0.5 by default. */
  readonly backoff?: number | undefined;
}

export interface ConnectionOptions extends ConnectionLimits {
  /** The name in errors, such as `vLLM`. */
  readonly label: string;
  /** Credentials in it are sent as basic authorisation and never printed. */
  readonly url: URL;
  /** Sent as bearer authorisation; `PROXIMAL_ROLLOUT_TOKEN` by default. */
  readonly token?: string | undefined;
}

/** Largest response of a rollout server: all samples of a prompt, with about 150 bytes per token. */
const MAX_RESPONSE_BYTES = 256 * 2 ** 20;

interface SendOptions extends SignalOptions {
  /** Whether a status is worth another attempt; 429 and 5xx by default. */
  readonly isTransient?: ((status: number) => boolean) | undefined;
}

/** Sends requests to a rollout server and checks the responses. All its errors name the server. */
export class ServerConnection {
  private readonly label: string;
  private readonly url: URL;
  private readonly headers: Headers;
  private readonly limits: { timeout: number; retries: number; backoff: number };
  private requests = 0;

  constructor({ label, url, token, ...limits }: ConnectionOptions) {
    this.label = label;
    this.url = new URL(url);
    this.headers = jsonHeaders(this.url, token || process.env.PROXIMAL_ROLLOUT_TOKEN);
    const { timeout = 300, retries = 10, backoff = 0.5 } = limits;
    this.limits = { timeout, retries, backoff };
  }

  get(route: string, options: SendOptions): Promise<HttpAnswer> {
    return this.send(route, undefined, options);
  }

  post(route: string, body: object, options: SendOptions): Promise<HttpAnswer> {
    return this.send(route, JSON.stringify(body), options);
  }

  /** The body of a successful response, which must have the fields of the schema. */
  read<S extends z.ZodType>(
    answer: HttpAnswer,
    schema: S,
    { route }: { readonly route: string },
  ): z.output<S> {
    if (!isSuccess(answer)) throw this.failure(route, describeStatus(answer));
    let body: unknown;
    try {
      body = JSON.parse(answer.text);
    } catch (cause) {
      throw this.failure(route, `must respond with JSON (${messageOf(cause)})`, { cause });
    }
    const { success, data, error } = schema.safeParse(body);
    if (success) return data;
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    const field = path.length === 0 ? 'the response' : `"${path.join('.')}"`;
    throw this.failure(route, `must respond with the known fields: ${field}: ${message}`, {
      cause: error,
    });
  }

  /** An error about a route: what the server must do, and what it did.
   *  @example '/version', 'must respond with JSON'
   *    →  'Cannot generate with vLLM: http://host:8000/version must respond with JSON' */
  failure(route: string, problem: string, { cause }: ErrorOptions = {}): Error {
    const place = withoutSecrets(this.urlOf(route));
    return new Error(`Cannot generate with ${this.label}: ${place} ${problem}`, { cause });
  }

  private async send(
    route: string,
    body: string | undefined,
    { signal, isTransient }: SendOptions,
  ): Promise<HttpAnswer> {
    const { headers, limits } = this;
    const random = randomStream(0, 'rollout retries', this.requests++);
    const method = body === undefined ? 'GET' : 'POST';
    try {
      return await sendWithRetries(
        this.urlOf(route),
        { method, body },
        { ...limits, maxBytes: MAX_RESPONSE_BYTES, headers, random, signal, isTransient },
      );
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`Cannot generate with ${this.label}: ${messageOf(cause)}`, { cause });
    }
  }

  private urlOf(route: string): URL {
    const url = new URL(this.url);
    url.pathname = `${url.pathname.replace(/\/$/, '')}${route}`;
    return url;
  }
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** Whether the whole route is missing, as opposed to something that the route did not find. */
export function isMissingRoute({ status, text }: HttpAnswer): boolean {
  return status === 405 || (status === 404 && !/"(message|error_message)"/.test(text));
}

/** Statuses of a server that is busy or not up yet. After a 500 the same request fails again. */
export function isUnavailable(status: number): boolean {
  return status === 429 || (status >= 502 && status <= 504);
}
