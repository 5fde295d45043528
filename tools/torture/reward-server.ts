import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomStream } from '../../src/engine/random/index.ts';

/** Faults of the same request in a row, so that the retries of a run still succeed. */
const MAX_FAULTS = 2;
/** Milliseconds of a slow answer. */
const SLOW = 300;

export interface RewardServer {
  readonly url: string;
  /** Answers all requests correctly while something runs; otherwise some fail at first. */
  withoutFaults<T>(run: () => Promise<T>): Promise<T>;
  close(): void;
}

type Fault = (response: ServerResponse, answer: string) => void;

const faults: readonly Fault[] = [
  (response) => response.writeHead(500).end('no'),
  (response) => response.writeHead(503, { 'retry-after': '0' }).end(),
  (response) => response.destroy(),
  (response, answer) => setTimeout(() => response.end(answer), SLOW),
  // Ends in the middle of the answer.
  (response, answer) => {
    response.writeHead(200, { 'content-length': String(answer.length) });
    response.write(answer.slice(0, answer.length / 2), () => response.destroy());
  },
];

/** A reward service on this machine that scores by length and fails now and then. */
export async function startRewardServer(): Promise<RewardServer> {
  let calm = 0;
  const attempts = new Map<string, { total: number; faults: number }>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const { samples } = JSON.parse(body) as { samples: { response: string }[] };
    const scores = samples.map(({ response }) => -Math.abs(response.length - 40) / 40);
    const answer = JSON.stringify({ scores });
    const { total, faults: before } = attempts.get(body) ?? { total: 0, faults: 0 };
    const random = randomStream('reward faults', body, total);
    const isFault = calm === 0 && before < MAX_FAULTS && random.integer(2) === 0;
    attempts.set(body, { total: total + 1, faults: isFault ? before + 1 : 0 });
    if (isFault) faults[random.integer(faults.length)]!(response, answer);
    else response.end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/score`,
    withoutFaults: async (run) => {
      calm++;
      try {
        return await run();
      } finally {
        calm--;
      }
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
