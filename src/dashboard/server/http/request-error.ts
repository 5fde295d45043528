import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** An error with an HTTP status, sent to the client as it is. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, message: string) {
    super(message);
    this.status = status;
  }
}
