import type { HubApiError } from '@huggingface/hub';

/** The request that failed. */
export interface HubRequest {
  readonly endpoint: string;
  readonly id: string;
  readonly revision: string;
  /** Whether a token was sent. */
  readonly authorized: boolean;
  readonly timeout: number;
}

/** The hub denied access, is unreachable for now, or returned an error that a retry will not fix. */
export type HubFailure = 'denied' | 'unreachable' | 'final';

/** A failed request to the hub. */
export class HubError extends Error {
  readonly failure: HubFailure;

  constructor(message: string, options: ErrorOptions & { readonly failure: HubFailure }) {
    super(message, options);
    this.name = 'HubError';
    this.failure = options.failure;
  }
}

/** Explains in one sentence what went wrong and what to do; other errors are returned unchanged. */
export function explainHubFailure(cause: unknown, request: HubRequest): unknown {
  if (!(cause instanceof Error) || cause instanceof HubError) return cause;
  const status = (cause as Partial<HubApiError>).statusCode;
  if (status !== undefined) return explainStatus(status, { ...request, cause });
  const { endpoint, id, timeout } = request;
  const start = `Cannot download ${id}: ${endpoint}`;
  const remedy = 'check the connection, or pass offline: true to use a cached copy';
  if (cause.name === 'TimeoutError') {
    const message = `${start} must answer within ${timeout} s, got no answer; ${remedy}`;
    return new HubError(message, { cause, failure: 'unreachable' });
  }
  if (cause instanceof SyntaxError) {
    const message = `${start} must answer with JSON, got something else; check HF_ENDPOINT`;
    return new HubError(message, { cause, failure: 'final' });
  }
  // The reason of a fetch error is its cause.
  if (cause instanceof TypeError && cause.cause instanceof Error) {
    const { code, message: reason } = cause.cause as NodeJS.ErrnoException;
    const message = `${start} must be reachable, got ${code ?? reason}; ${remedy}`;
    return new HubError(message, { cause, failure: 'unreachable' });
  }
  return cause;
}

/** Explains an HTTP status. */
export function explainStatus(status: number, request: HubRequest & ErrorOptions): HubError {
  const { endpoint, id, revision, authorized, cause } = request;
  const page = `${endpoint}/${id}`;
  const start = `Cannot download ${id} at revision "${revision}":`;
  if (status === 401 || status === 403) {
    const token = authorized ? 'the token in HF_TOKEN has no access' : 'HF_TOKEN is not set';
    const message = `${start} access is denied (${status}) and ${token}; check the name, accept the licence on ${page} and set HF_TOKEN`;
    return new HubError(message, { cause, failure: 'denied' });
  }
  if (status === 404) {
    const message = `${start} the hub has no such model, revision or file (404); see ${page}`;
    return new HubError(message, { cause, failure: 'final' });
  }
  const message = `${start} the hub answered with status ${status}; try again later, or pass offline: true to use a cached copy`;
  return new HubError(message, {
    cause,
    failure: status === 429 || status >= 500 ? 'unreachable' : 'final',
  });
}
