import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { requestControl } from '../../run/run-control.ts';
import type { DashboardEvent } from '../api.ts';
import { pageFolder } from '../build-page.ts';
import { labelRoutes } from '../labels/label-routes.ts';
import { LabelStore } from '../labels/label-store.ts';
import { createApp, readPage } from './app.ts';
import { EventHub } from './http/event-hub.ts';
import { isLoopback, urlHost } from './http/guard.ts';
import type { RequestControl } from './http/run-routes.ts';
import { RunLibrary, RunWatch } from './runs/run-library.ts';

/** Close to TensorBoard's 6006. It needs no privileges, browsers allow it (unlike 6000), and web
 *  development servers and notebooks use others (3000, 5173, 8000, 8080, 8888). */
export const defaultPort = 6060;
/** Number of ports after the default one to try if it is in use. */
const MORE_PORTS = 19;
const MIN_TOKEN_LENGTH = 8;
/** Milliseconds between two checks for changes: often enough to look live, without slowing down the
 *  training. */
const CHECK_INTERVAL = 1000;
/** Milliseconds that streams have to send pending data when the server closes. */
const CLOSE_TIMEOUT = 200;

export interface DashboardOptions {
  /** Folders of runs, or folders that contain runs; they need not exist yet. */
  readonly folders: readonly string[];
  /** Address to bind to; 127.0.0.1 by default, which only this machine can reach. */
  readonly host?: string | undefined;
  /** By default 6060 or the next free one; 0 is any free one. */
  readonly port?: number | undefined;
  /** Required in every request. By default random if other machines can reach the host, else none. */
  readonly token?: string | undefined;
  /** Folder of the built page; this package's own by default. */
  readonly page?: string | undefined;
  /** Folder of the label queues; `labels` by default. */
  readonly labels?: string | undefined;
  /** How to call the program in commands for users; `proximal` by default. */
  readonly program?: string | undefined;
  /** Sends a command to a run; by files in its folder by default. */
  readonly control?: RequestControl | undefined;
  /** Milliseconds between two checks for changes while a page is open; a second by default. */
  readonly interval?: number | undefined;
  /** Reports internal errors. */
  readonly onError: (error: unknown) => void;
}

export interface Dashboard {
  /** Address of the page, with the token if it was generated. */
  readonly url: string;
  /** Whether the caller's own token must be added to the address as `?token=`. */
  readonly needsToken: boolean;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the dashboard of runs until it is closed.
 *  @example
 *  const { url, close } = await startDashboard({ folders: ['runs'], onError });
 *  // url: http://127.0.0.1:6060/ */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { host = '127.0.0.1', control = requestControl, onError } = options;
  const token = resolveToken(host, options.token);
  const page = await readPage(options.page ?? (await pageFolder()), options.program);
  const server = createServer();
  const more = options.port === undefined ? MORE_PORTS : 0;
  const port = await listen(server, { host, port: options.port ?? defaultPort, more });
  const { stop, ...parts } = openRuns(options);
  parts.library.preload().catch(onError);
  const app = createApp({ ...parts, page, control, host, port, token, onError });
  server.on('request', serveApp(app)).on('error', onError);
  const needsToken = options.token !== undefined;
  const isGenerated = token !== undefined && !needsToken;
  const query = isGenerated ? `?token=${encodeURIComponent(token)}` : '';
  return {
    url: `http://${urlHost(host)}:${port}/${query}`,
    ...{ port, needsToken },
    close: async () => {
      await stop();
      await close(server);
    },
  };
}

/** Opens runs and labels, and connects them with the event stream. */
function openRuns(options: DashboardOptions) {
  const { folders, labels: folder = 'labels', interval = CHECK_INTERVAL, onError } = options;
  const hub: EventHub = new EventHub({
    onWatched: (isWatched) => (isWatched ? watch.start() : watch.stop()),
  });
  const publish = (event: DashboardEvent) => hub.publish(event);
  const paths = folders.map((path) => resolve(path));
  const library = new RunLibrary(paths, (events) => {
    hub.publish(...events);
    // The Label page must show what a run waits for.
    const runs = events.flatMap((event) => (event.type === 'runs' ? event.runs : []));
    if (runs.some(({ status }) => status === 'waiting')) labels.publish();
  });
  const watch = new RunWatch(library, { interval, onError });
  const labels = openLabels(folder, { library, publish, onError, program: options.program });
  const stop = async () => {
    watch.stop();
    // Open pages see how a run of this process ended.
    if (hub.size > 0) await library.refresh({ all: true });
    hub.close();
  };
  return { library, hub, labels: labels.routes, stop };
}

/** Malformed URLs never reach the app. */
function serveApp(app: Hono): RequestListener {
  const errorHandler = () => Response.json({ error: 'Bad request' }, { status: 400 });
  return getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler });
}

function resolveToken(host: string, given: string | undefined): string | undefined {
  if (given === undefined) {
    return isLoopback(host) ? undefined : randomBytes(24).toString('base64url');
  }
  if (given.length >= MIN_TOKEN_LENGTH) return given;
  throw new RangeError(
    `Cannot use the token: it must have at least ${MIN_TOKEN_LENGTH} characters, got ${given.length}; leave it out to generate one`,
  );
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT);
  await closed;
  clearTimeout(timer);
}

interface OpenLabelsOptions {
  readonly library: RunLibrary;
  readonly publish: (event: DashboardEvent) => void;
  readonly onError: (error: unknown) => void;
  readonly program: string | undefined;
}

interface Labels {
  readonly routes: Hono;
  /** Sends the state of the queues to every page. */
  publish(): void;
}

/** Opens the label queues of a folder. New queues may only read files in the working directory and in
 *  the folders of runs, not everything that this user can read. */
function openLabels(folder: string, options: OpenLabelsOptions): Labels {
  const { library, publish, onError, program } = options;
  const roots = [process.cwd(), ...library.folders];
  const store = new LabelStore({ folder, roots, runs: () => library.all(), onError, program });
  const publishQueues = () => {
    store.list().then((queues) => publish({ type: 'labels', queues }), onError);
  };
  store.onChange(publishQueues);
  const routes = labelRoutes({ store, onFilling: (queue) => publish({ type: 'filling', queue }) });
  return { routes, publish: publishQueues };
}

export interface ListenOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Number of ports after it to try if it is in use. */
  readonly more: number;
}

/** Starts listening and returns the port. */
export async function listen(server: Server, { host, port, more }: ListenOptions): Promise<number> {
  for (let next = port; ; next++) {
    const error = await tryListen(server, { host, port: next });
    if (error === undefined) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE' || next === port + more)
      throw explainListenError(error, { host, port });
  }
}

async function tryListen(
  server: Server,
  address: { readonly host: string; readonly port: number },
): Promise<NodeJS.ErrnoException | undefined> {
  server.listen(address);
  // once() rejects on an `error` event.
  return once(server, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}

function explainListenError(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  const where = `Cannot serve the dashboard on port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    return new Error(
      `${where}: it must be free, but it is in use; choose another with --port, or stop the program that uses it`,
    );
  }
  if (error.code === 'EACCES') {
    return new Error(`${where}: the system does not allow it; choose a --port above 1023`);
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new Error(
      `${where}: the host must be an address of this machine; choose another with --host`,
    );
  }
  return error;
}
