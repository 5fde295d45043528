import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { UnusableFileError, WriteError } from '../../fs/index.ts';
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
import { RequestError } from './http/request-error.ts';
import { type RequestControl, runRoutes } from './http/run-routes.ts';
import type { RunLibrary } from './runs/run-library.ts';

export interface AppOptions {
  readonly library: RunLibrary;
  readonly hub: EventHub;
  /** Serves `api/labels` and below. */
  readonly labels?: Hono | undefined;
  /** Files of the built page. */
  readonly page: Awaited<ReturnType<typeof readPage>>;
  readonly control: RequestControl;
  /** The address that the server is bound to. */
  readonly host: string;
  readonly port: number;
  /** Required in every request if given. */
  readonly token?: string | undefined;
  /** Reports internal errors, such as to the terminal. */
  readonly onError: (error: unknown) => void;
}

/** The dashboard's routes with their security checks. */
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
  app.notFound((context) => context.json<ApiError>({ error: 'Not found' }, 404));
  app.onError((error, context) => {
    const { status, message } = describeError(error);
    if (status >= 500) onError(error);
    return context.json<ApiError>({ error: message }, status);
  });
  return app;
}

/** The error as a client sees it, without details of this machine. */
function describeError(error: Error): Pick<RequestError, 'status' | 'message'> {
  if (error instanceof RequestError) return error;
  if (error instanceof UnusableFileError) return { status: 409, message: error.summary };
  if (error instanceof HTTPException) return { status: error.status, message: 'Bad request' };
  if (error instanceof WriteError) {
    return { status: error.isDiskFull ? 507 : 500, message: error.summary };
  }
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    const message = 'The file no longer exists; the run or queue may have been deleted';
    return { status: 404, message };
  }
  return { status: 500, message: 'Internal: the dashboard failed; see its terminal' };
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

/** Reads the files of the built page once, by URL path, so that no URL is ever turned into a file path.
 *  @param program how to call the program in the page's texts */
export async function readPage(
  folder: string,
  program = 'proximal',
): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pairs = files.map(async (entry): Promise<[string, PageFile]> => {
    const path = join(entry.parentPath, entry.name);
    const urlPath = `/${relative(folder, path).split(sep).join('/')}`;
    const type = types[extname(path)] ?? 'application/octet-stream';
    return [urlPath, { bytes: new Uint8Array(await readFile(path)), type }];
  });
  const page = new Map(await Promise.all(pairs));
  const index = page.get('/index.html');
  if (index !== undefined) return page.set('/', nameProgram(index, program));
  throw new Error(
    `Cannot serve the dashboard's page from ${folder}: it must contain index.html; build it with "npm run build"`,
  );
}

/** The index page with the name of the program, which its texts use in commands.
 *  @example npx proximal  →  <meta name="proximal-program" content="npx proximal"> */
function nameProgram({ bytes, type }: PageFile, program: string): PageFile {
  const text = program.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const html = new TextDecoder()
    .decode(bytes)
    .replace(/(<meta name="proximal-program" content=")[^"]*/, (_, start) => start + text);
  return { bytes: new TextEncoder().encode(html), type };
}

/** Serves the page. */
function servePage(page: ReadonlyMap<string, PageFile>): MiddlewareHandler {
  return async (context, next) => {
    const { method, path } = context.req;
    const file = page.get(path);
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) return next();
    return context.body(file.bytes, 200, { 'Content-Type': file.type });
  };
}
