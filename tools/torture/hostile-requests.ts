import type { RandomStream } from '../../src/engine/random/index.ts';
import { mutate } from './mutate.ts';

/** The dashboard that gets the requests. */
export interface RequestTarget {
  readonly port: number;
  readonly runId: string;
}

function pick<T>(items: readonly T[], random: RandomStream): T {
  return items[random.integer(items.length)]!;
}

/** A harmless request for a path. */
export function plainRequest(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
}

const ups = ['..', '%2e%2e', '.%2e', '%252e%252e', '..%00', '....', '\\..', '%c0%ae%c0%ae', '.'];
const separators = ['/', '%2f', '%5c', '\\', '//', '%252f', '/./'];
const targets = [
  ...['secret.txt', 'etc/passwd', 'run.json', 'config.json', 'secret.jsonl', 'index.html', ''],
];
const runParts = [
  'config',
  'metrics',
  'samples',
  'evaluations',
  'log',
  'workers',
  'control',
  'note',
];
const parameters = [
  'points',
  'from',
  'limit',
  'offset',
  'search',
  'sort',
  'order',
  '__proto__',
  'token',
];
const values = [
  '1',
  '-1',
  '1e9',
  '',
  'NaN',
  '%00',
  '%',
  '%ff',
  '../x',
  'constructor',
  '99999999999999999',
];

/** A path that leads outside, to the API of a run, or nowhere. */
function hostilePath(random: RandomStream, { runId }: RequestTarget): string {
  const up = () => pick(ups, random) + pick(separators, random);
  const outside = up().repeat(1 + random.integer(6)) + pick(targets, random);
  const id = pick(
    [runId, runId, runId, 'x', '__proto__', outside, encodeURIComponent(outside)],
    random,
  );
  const query = `${pick(parameters, random)}=${pick(values, random)}`;
  return pick(
    [
      `/${outside}`,
      `/page.js${pick(separators, random)}${outside}`,
      `/api/runs/${id}/${pick(runParts, random)}?${query}`,
      `/api/runs/${id}/samples/${pick(values, random)}/tokens`,
      `/api/labels/${id}/${pick(['next', 'answers', 'undo', 'export'], random)}?labeller=${pick(values, random)}`,
      '/api/labels',
      '/api/events',
      `/${'a'.repeat(random.integer(20_000))}`,
      `/${'a/'.repeat(random.integer(5000))}`,
      `http://example.com/${outside}`,
      '*',
    ],
    random,
  );
}

/** A body that a route accepts, or almost. */
function hostileBody(random: RandomStream, { runId }: RequestTarget): Buffer {
  const up = `${pick(ups, random)}/`.repeat(1 + random.integer(4));
  const file = pick([`${up}secret.jsonl`, '/etc/passwd', `${up}etc/passwd`, 'a.jsonl'], random);
  const source = pick<object>(
    [
      { from: 'file', file },
      { from: 'samples', run: runId, fromStep: random.integer(9) - 2 },
      { from: 'samples', run: file },
      { from: 'generate', model: file, prompts: file },
      { from: 'compare', run: 'x', against: file },
    ],
    random,
  );
  const body = pick<object>(
    [
      { command: pick(['pause', 'resume', 'save', 'stop', '../x', '__proto__'], random) },
      { note: 'x'.repeat(random.integer(6000)) },
      { name: 'q', kind: pick(['pair', 'rating', 'ranking'], random), source, limit: 2 },
      { task: '1', labeller: 'me', answer: { kind: 'pair', choice: random.integer(4) } },
      { labeller: 'me' },
    ],
    random,
  );
  const bytes = Buffer.from(JSON.stringify(body));
  const isLarge = random.integer(20) === 0;
  if (isLarge) return Buffer.concat([bytes, Buffer.alloc(random.integer(500_000), ' ')]);
  return random.integer(2) === 0 ? bytes : mutate(bytes, random);
}

const methods = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'BREW',
];
const hosts = ['127.0.0.1', 'localhost', 'evil.example', '', '127.0.0.1:99999', 'a b', '[::1]'];
const moreHeaders = [
  ...[
    'Origin: http://evil.example',
    'Origin: null',
    'Sec-Fetch-Site: cross-site',
    'Range: bytes=0-9',
  ],
  ...[
    'Cookie: proximal-1=x; __proto__=y',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'If-None-Match: *',
  ],
  ...[
    'Content-Encoding: gzip',
    'Accept-Encoding: gzip, br',
    'Last-Event-ID: -1',
    'X: \u0001',
    ': x',
  ],
];

/** A request that tries to break the dashboard. */
export interface HostileRequest {
  readonly bytes: Buffer;
  /** Whether it is all that a server needs to answer. */
  readonly isComplete: boolean;
}

/** A request that depends on the random stream only; one in ten ends early. */
export function hostileRequest(random: RandomStream, target: RequestTarget): HostileRequest {
  const method = pick(methods, random);
  const host = random.integer(4) === 0 ? pick(hosts, random) : `127.0.0.1:${target.port}`;
  const hasBody = method === 'POST' || random.integer(5) === 0;
  const body = hasBody ? hostileBody(random, target) : Buffer.alloc(0);
  const isJson = random.integer(5) !== 0;
  const length = random.integer(20) === 0 ? pick(['-1', 'x', '0'], random) : body.length;
  const isChunked = hasBody && random.integer(8) === 0;
  const lines = [
    `${method} ${hostilePath(random, target)} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    ...(isJson ? ['Content-Type: application/json'] : []),
    ...(isChunked ? ['Transfer-Encoding: chunked'] : hasBody ? [`Content-Length: ${length}`] : []),
    ...(random.integer(3) === 0 ? [pick(moreHeaders, random)] : []),
    ...(random.integer(40) === 0 ? [`X-Long: ${'x'.repeat(random.integer(40_000))}`] : []),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const bytes = Buffer.concat([head, isChunked ? chunk(body) : body]);
  const fate = random.integer(20);
  if (fate === 0) return { bytes: mutate(bytes, random), isComplete: false };
  if (fate > 2) return { bytes, isComplete: true };
  return { bytes: bytes.subarray(0, random.integer(bytes.length)), isComplete: false };
}

/** A body as one chunk and its end. */
function chunk(body: Buffer): Buffer {
  const start = Buffer.from(`${body.length.toString(16)}\r\n`);
  return Buffer.concat(
    body.length === 0 ? [Buffer.from('0\r\n\r\n')] : [start, body, Buffer.from('\r\n0\r\n\r\n')],
  );
}
