import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ApiError } from '../api.ts';
import type { EventHub } from './http/event-hub.ts';
import {
  checkContentType,
  checkHost,
  checkOrigin,
  limitBody,
  requireToken,
  secureHeaders,
} from './http/guard.ts';
import { Refusal } from './http/request-error.ts';
import { type RequestControl, runRoutes } from './http/run-routes.ts';
import type { RunLibrary } from './runs/run-library.ts';

export interface AppOptions {
  readonly library: RunLibrary;
  readonly hub: EventHub;
  /** Serves `api/labels` and all below. */
  readonly labels?: Hono | undefined;
  /** Files of the built page. */
  readonly page: Awaited<ReturnType<typeof readPage>>;
  readonly control: RequestControl;
  /** What the server is bound to. */
  readonly host: string;
  readonly port: number;
  /** What every request needs; nothing if not given. */
  readonly token?: string | undefined;
  /** What went wrong inside, for the terminal. */
  readonly onError: (error: unknown) => void;
}

/** The dashboard's routes behind their guards. */
export function createApp(options: AppOptions): Hono {
  const { library, hub, labels, page, control, host, port, token, onError } = options;
  const app = new Hono();
  app.use(secureHeaders, checkHost(host));
  if (token !== undefined) app.use(requireToken(token, port));
  app.use(checkOrigin, checkContentType, limitBody);
  app.route('/api/runs', runRoutes(library, control));
  if (labels !== undefined) app.route('/api/labels', labels);
  app.get('/api/events', async (context) => {
    await library.refresh({ all: true });
    const stream = hub.open([{ type: 'runs', runs: library.list() }]);
    return context.body(stream, 200, { 'Content-Type': 'text/event-stream' });
  });
  app.use(servePage(page));
  app.notFound((context) => context.json<ApiError>({ error: 'There is nothing here' }, 404));
  app.onError((error, context) => {
    const { status, message } = describe(error);
    if (status === 500) onError(error);
    return context.json<ApiError>({ error: message }, status);
  });
  return app;
}

/** What a client is told of an error: nothing of this machine. */
function describe(error: Error): Pick<Refusal, 'status' | 'message'> {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException)
    return { status: error.status, message: 'The request is bad' };
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    return { status: 404, message: 'The file is gone; the run may be deleted' };
  }
  return { status: 500, message: 'Internal: the dashboard failed; its terminal shows why' };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Reads the files of the built page once, by their addresses: no address is ever made into a path. */
export async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pairs = files.map(async (entry): Promise<[string, PageFile]> => {
    const path = join(entry.parentPath, entry.name);
    const address = `/${relative(folder, path).split(sep).join('/')}`;
    const type = types[extname(path)] ?? 'application/octet-stream';
    return [address, { bytes: new Uint8Array(await readFile(path)), type }];
  });
  const page = new Map(await Promise.all(pairs));
  if (page.has('/index.html')) return page.set('/', page.get('/index.html')!);
  throw new Error(
    `Cannot serve the dashboard's page from ${folder}: it must hold index.html, got none; build it with "npm run build"`,
  );
}

/** Serves the page. */
export function servePage(page: ReadonlyMap<string, PageFile>): MiddlewareHandler {
  return async (context, next) => {
    const { method, path } = context.req;
    const file = page.get(path);
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) return next();
    return context.body(file.bytes, 200, { 'Content-Type': file.type });
  };
}
