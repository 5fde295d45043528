import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A request that is answered with a sentence instead of what it asks for. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, message: string) {
    super(message);
    this.status = status;
  }
}
