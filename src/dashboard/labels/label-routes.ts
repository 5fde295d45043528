import { type Context, Hono } from 'hono';
import type { FillingQueue, LabelAnswer, NewQueue } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import type { LabelStore } from './label-store.ts';

export interface LabelRoutesOptions {
  readonly store: LabelStore;
  /** Reports the progress of a model that fills a queue; null when it ends. */
  readonly onFilling?: ((queue: FillingQueue | null) => void) | undefined;
}

/** The routes of labels, mounted at `api/labels`; see `api.ts`. The server checks access and size, and
 *  sends error responses. */
export function labelRoutes({ store, onFilling }: LabelRoutesOptions): Hono {
  const app = new Hono();
  app.get('/', async (c) => c.json(await store.list()));
  app.post('/', async (c) => {
    const queue = await readBody<NewQueue>(c);
    let isFilling = false;
    const onProgress = (done: number, total: number) => {
      isFilling = true;
      onFilling?.({ name: queue.name, done, total });
    };
    try {
      return c.json(await store.create(queue, { signal: c.req.raw.signal, onProgress }));
    } finally {
      if (isFilling) onFilling?.(null);
    }
  });
  app.get('/:id/next', async (c) => {
    const task = await store.next(c.req.param('id'), c.req.query('labeller') ?? '');
    return task === undefined ? c.body(null, 204) : c.json(task);
  });
  app.post('/:id/answers', async (c) =>
    c.json(await store.answer(c.req.param('id'), await readBody<LabelAnswer>(c))),
  );
  app.post('/:id/undo', async (c) => {
    const body = await readBody<{ readonly labeller: string } | null>(c);
    return c.json(await store.undo(c.req.param('id'), body?.labeller ?? ''));
  });
  app.get('/:id/export', async (c) => {
    const id = c.req.param('id');
    const rows = await store.export(id);
    return c.body(rows, 200, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${id}.jsonl"`,
    });
  });
  return app;
}

/** The JSON of a request; the store validates it. */
async function readBody<T>(c: Context): Promise<T> {
  try {
    return await c.req.json<T>();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RequestError(400, `Cannot read the request: it must be JSON (${error.message})`);
  }
}
