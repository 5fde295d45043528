import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ApiError } from '../api.ts';
import type { EventHub } from './http/event-hub.ts';
import {
  checkContentType,
  checkHost,
  checkOrigin,
  limitBody,
  secureHeaders,
} from './http/guard.ts';
import { type readPage, servePage } from './http/page-files.ts';
import { Refusal } from './http/refusal.ts';
import { type RequestControl, runRoutes } from './http/run-routes.ts';
import { requireToken } from './http/token-gate.ts';
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
