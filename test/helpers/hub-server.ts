import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults of the server; each may be changed while it runs. */
interface HubFaults {
  /** Status of every answer about the model. */
  apiStatus?: number;
  /** Status of every answer with a file's bytes. */
  fileStatus?: number;
  /** For each connection that requests weights: bytes sent before it breaks. */
  cutAfter?: number[];
  /** Bytes of weights sent before the connection goes idle. */
  silentAfter?: number;
  /** Never answers. */
  silent?: boolean;
  /** Ignores ranges and always sends all weights. */
  ignoreRange?: boolean;
  /** Changes the first byte of the weights. */
  corrupt?: boolean;
  /** Extra bytes after the end of the weights. */
  extra?: string;
  /** Text sent instead of JSON. */
  page?: string;
}

export interface HubServer {
  readonly url: string;
  /** The model's path if it requires a token. */
  token: string | undefined;
  /** `GET /path`, followed by ` bytes=5-` if a range was requested. */
  readonly requests: string[];
  /** The authorization header of each request to the other host, to which weights are redirected. */
  readonly forwardedTokens: (string | undefined)[];
  readonly faults: HubFaults;
  commit: string;
  files: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const modelId = 'owner/tiny';

/** A small hub with one model, which answers like huggingface.co. */
export async function startHub(files: Readonly<Record<string, string>>): Promise<HubServer> {
  const [main, other] = [createServer(), createServer()];
  const [url, otherUrl] = [await listen(main), await listen(other)];
  const hub: HubServer = {
    url,
    token: undefined,
    requests: [],
    forwardedTokens: [],
    faults: {},
    commit: 'c0ffee'.padEnd(40, '0'),
    files,
    close: async () => {
      for (const server of [main, other]) await stop(server);
    },
  };
  main.on('request', (request, response) => {
    const range = request.headers.range === undefined ? '' : ` ${request.headers.range}`;
    hub.requests.push(`${request.method} ${request.url?.split('?')[0]}${range}`);
    if (!hub.faults.silent) answer(hub, { request, response, otherUrl });
  });
  other.on('request', (request, response) => {
    hub.forwardedTokens.push(request.headers.authorization);
    sendBytes(hub, { request, response, name: decodeURIComponent(request.url!.slice(1)) });
  });
  return hub;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function answer(hub: HubServer, exchange: Exchange & { readonly otherUrl: string }): void {
  const { request, response, otherUrl } = exchange;
  const { pathname } = new URL(request.url!, hub.url);
  const fail = (status: number) => response.writeHead(status).end('no');
  if (hub.token && request.headers.authorization !== `Bearer ${hub.token}`) return void fail(401);
  const [, about, revision] = /^\/api\/models\/owner\/tiny\/(\w+)\/(.+)$/.exec(pathname) ?? [];
  const [, commit, name] = /^\/owner\/tiny\/resolve\/(\w+)\/(.+)$/.exec(pathname) ?? [];
  const known = [hub.commit, 'main', 'refs/pr/1'].includes(decodeURIComponent(revision ?? ''));
  if (about !== undefined) {
    if (hub.faults.apiStatus) return void fail(hub.faults.apiStatus);
    if (!known) return void fail(404);
    response.setHeader('content-type', 'application/json');
    const body = about === 'tree' ? listTree(hub.files) : describe(hub);
    return void response.end(hub.faults.page ?? JSON.stringify(body));
  }
  if (name === undefined || hub.files[name] === undefined) return void fail(404);
  if (hub.faults.fileStatus) return void fail(hub.faults.fileStatus);
  response.setHeader('x-repo-commit', commit!);
  if (!isLarge(name)) return void sendBytes(hub, { request, response, name });
  response.setHeader('x-linked-etag', `"${hashOf(name, hub.files[name])}"`);
  response.setHeader('x-linked-size', Buffer.byteLength(hub.files[name]));
  response.writeHead(302, { location: `${otherUrl}/${name}` }).end();
}

function describe({ commit, files }: HubServer) {
  const siblings = Object.keys(files).map((rfilename) => ({ rfilename }));
  return { _id: '1', id: modelId, sha: commit, siblings, lastModified: '2025-01-01T00:00:00Z' };
}

function listTree(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([path, text]) => {
    const size = Buffer.byteLength(text);
    const oid = gitHash(text);
    const lfs = { oid: hashOf(path, text), size, pointerSize: 130 };
    return { type: 'file', path, size, oid, ...(isLarge(path) ? { lfs } : {}) };
  });
}

function sendBytes(hub: HubServer, { request, response, name }: Exchange & { name: string }): void {
  const large = isLarge(name);
  const { ignoreRange, corrupt, cutAfter, silentAfter, extra = '' } = large ? hub.faults : {};
  const text = hub.files[name]!;
  const bytes = Buffer.from(corrupt ? `!${text.slice(1)}` : text);
  const [, asked] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const start = ignoreRange ? 0 : Number(asked ?? 0);
  if (start >= bytes.length) return void response.writeHead(416).end();
  const partial = asked !== undefined && !ignoreRange;
  response.setHeader('etag', `"${hashOf(name, text)}"`);
  if (partial) {
    response.setHeader('content-range', `bytes ${start}-${bytes.length - 1}/${bytes.length}`);
  }
  if (extra === '') response.setHeader('content-length', bytes.length - start);
  response.writeHead(partial ? 206 : 200);
  const limit = cutAfter?.shift() ?? silentAfter;
  if (limit === undefined) return void response.end(`${bytes.subarray(start)}${extra}`);
  const cut = () => (silentAfter === undefined ? response.destroy() : undefined);
  // The pause lets the bytes arrive before the connection breaks.
  response.write(bytes.subarray(start, start + limit), () => setTimeout(cut, 20));
}

function isLarge(name: string): boolean {
  return name.endsWith('.safetensors');
}

/** The name of a file's blob in the cache. */
export function hashOf(name: string, text: string): string {
  return isLarge(name) ? createHash('sha256').update(text).digest('hex') : gitHash(text);
}

function gitHash(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex');
}
