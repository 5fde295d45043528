import { type Dashboard, defaultPort } from '../../dashboard/server/start-dashboard.ts';
import type { Output } from '../terminal.ts';

interface PlaceOptions {
  /** The port that was asked for, if any. */
  readonly port: number | undefined;
  readonly output: Output;
}

/** Says where the page is, and why it is not on the usual port. */
export function tellPlace({ url, port }: Dashboard, { port: asked, output }: PlaceOptions): void {
  const isMoved = asked === undefined && port !== defaultPort;
  const why = isMoved ? ` (port ${defaultPort} is in use)` : '';
  output.write(`Dashboard: ${url}${why}\n`);
}
