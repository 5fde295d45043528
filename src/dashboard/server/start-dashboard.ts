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

/** Beside TensorBoard's 6006. It needs no rights, no browser refuses it, as they do 6000, and the
 *  usual servers of web development and notebooks are elsewhere (3000, 5173, 8000, 8080, 8888). */
export const defaultPort = 6060;
/** Ports after the default one that are tried where it is in use. */
const MORE_PORTS = 19;
const SHORTEST_TOKEN = 8;
/** Milliseconds between two looks at runs: a chart that grows once a second is alive, and each look
 *  takes a little of the machine from the training that it looks at. */
const LOOK_INTERVAL = 1000;
/** Milliseconds in which streams may send what waits. */
const LAST_WORDS = 200;

export interface DashboardOptions {
  /** Folders of runs, or folders with runs in them; they may come later. */
  readonly folders: readonly string[];
  /** What to bind to; 127.0.0.1 by default, which only this machine reaches. */
  readonly host?: string | undefined;
  /** If not given, 6060 or the next free one; 0 is any free one. */
  readonly port?: number | undefined;
  /** What every request needs. Random where others reach the host; none by default where not. */
  readonly token?: string | undefined;
  /** Folder of the built page; this package's own if not given. */
  readonly page?: string | undefined;
  /** Folder of what people label; `labels` if not given. */
  readonly labels?: string | undefined;
  /** How a run is told what to do; by files in its folder if not given. */
  readonly control?: RequestControl | undefined;
  /** Milliseconds between two looks at runs while a page is open; a second if not given. */
  readonly interval?: number | undefined;
  /** Takes what goes wrong inside. */
  readonly onError: (error: unknown) => void;
}

export interface Dashboard {
  /** Where the page is; with the token, if there is one. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the dashboard of runs until it is closed.
 *  @example
 *  const { url, close } = await startDashboard({ folders: ['runs'], onError });
 *  // url: http://127.0.0.1:6060/ */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { host = '127.0.0.1', control = requestControl, onError } = options;
  const token = chooseToken(host, options.token);
  const page = await readPage(options.page ?? (await pageFolder()));
  const server = createServer();
  const more = options.port === undefined ? MORE_PORTS : 0;
  const port = await listen(server, { host, port: options.port ?? defaultPort, more });
  const { stop, ...parts } = openRuns(options);
  parts.library.readAhead().catch(onError);
  const app = createApp({ ...parts, page, control, host, port, token, onError });
  server.on('request', serveApp(app)).on('error', onError);
  const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`;
  return {
    url: `http://${urlHost(host)}:${port}/${query}`,
    port,
    close: async () => {
      await stop();
      await close(server);
    },
  };
}

/** Runs and labels, and whoever is told of them. */
function openRuns(options: DashboardOptions) {
  const { folders, labels: folder = 'labels', interval = LOOK_INTERVAL, onError } = options;
  const hub: EventHub = new EventHub({
    onWatched: (isWatched) => (isWatched ? watch.start() : watch.stop()),
  });
  const publish = (event: DashboardEvent) => hub.publish(event);
  const paths = folders.map((path) => resolve(path));
  const library = new RunLibrary(paths, (events) => {
    hub.publish(...events);
    // People at the Label page are waited for.
    const runs = events.flatMap((event) => (event.type === 'runs' ? event.runs : []));
    if (runs.some(({ status }) => status === 'waiting')) labels.tell();
  });
  const watch = new RunWatch(library, { interval, onError });
  const labels = openLabels(folder, { library, publish, onError });
  const stop = async () => {
    watch.stop();
    // Whoever looks sees how a run of this process ended.
    if (hub.size > 0) await library.refresh({ all: true });
    hub.close();
  };
  return { library, hub, labels: labels.routes, stop };
}

/** What is not even an address never comes to the app. */
function serveApp(app: Hono): RequestListener {
  const errorHandler = () => Response.json({ error: 'The request is bad' }, { status: 400 });
  return getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler });
}

function chooseToken(host: string, given: string | undefined): string | undefined {
  if (given === undefined) {
    return isLoopback(host) ? undefined : randomBytes(24).toString('base64url');
  }
  if (given.length >= SHORTEST_TOKEN) return given;
  throw new RangeError(
    `Cannot use the token: it must have ${SHORTEST_TOKEN} characters or more, got ${given.length}; leave it out to have one made`,
  );
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  const timer = setTimeout(() => server.closeAllConnections(), LAST_WORDS);
  await closed;
  clearTimeout(timer);
}

export interface OpenLabelsOptions {
  readonly library: RunLibrary;
  readonly publish: (event: DashboardEvent) => void;
  readonly onError: (error: unknown) => void;
}

export interface Labels {
  readonly routes: Hono;
  /** Tells every page how far the queues are. */
  tell(): void;
}

/** What people label, in a folder. New queues may take files from where the command was given and
 *  from the folders of runs: the page must not read all that this user can. */
export function openLabels(
  folder: string,
  { library, publish, onError }: OpenLabelsOptions,
): Labels {
  const roots = [process.cwd(), ...library.folders];
  const store = new LabelStore({ folder, roots, runs: () => library.all() });
  const tell = () => {
    store.list().then((queues) => publish({ type: 'labels', queues }), onError);
  };
  store.onChange(tell);
  const routes = labelRoutes({ store, onFilling: (queue) => publish({ type: 'filling', queue }) });
  return { routes, tell };
}

export interface ListenOptions {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Ports after it that are tried where it is in use. */
  readonly more: number;
}

/** Has a server listen; gives the port. */
export async function listen(server: Server, { host, port, more }: ListenOptions): Promise<number> {
  for (let next = port; ; next++) {
    const error = await tryListen(server, { host, port: next });
    if (error === undefined) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE' || next === port + more) throw explain(error, { host, port });
  }
}

async function tryListen(
  server: Server,
  address: { readonly host: string; readonly port: number },
): Promise<NodeJS.ErrnoException | undefined> {
  server.listen(address);
  // once() rejects with the event `error`.
  return once(server, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  const where = `Cannot serve the dashboard on port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    return new Error(
      `${where}: it must be free, got one in use; choose another with --port, or end what uses it`,
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
