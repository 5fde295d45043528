import { join } from 'node:path';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { writeRows } from '../../../test/helpers/stage-setup.ts';
import type { LabelQueue, LabelTask } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import { labelRoutes } from './label-routes.ts';
import { LabelStore } from './label-store.ts';

/** The routes where the server has them, over files in one folder. */
function makeApp() {
  const root = makeTempFolder();
  const outside = makeTempFolder();
  const rows = [{ prompt: '<b>p</b>', chosen: '<script>x</script>', rejected: '\u001b[31mred' }];
  for (const folder of [root, outside]) writeRows(folder, 'rows.jsonl', rows);
  const store = new LabelStore({ folder: join(root, 'labels'), roots: [root] });
  const app = new Hono().route('/api/labels', labelRoutes({ store }));
  app.onError((error, c) => {
    if (!(error instanceof RequestError)) throw error;
    return c.json({ error: error.message }, error.status);
  });
  const get = (path: string) => app.request(`/api/labels${path}`);
  const post = (path: string, body: unknown) =>
    app.request(`/api/labels${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const create = (file: string) =>
    post('', { name: 'x', kind: 'pair', source: { from: 'file', file } });
  return { root, outside, get, post, create };
}

describe('labelRoutes()', () => {
  it('turns a file and answers into rows for the reward trainer', async () => {
    const { root, get, post, create } = makeApp();
    const created = await create(join(root, 'rows.jsonl'));
    expect(created.status).toBe(200);
    const { id } = (await created.json()) as LabelQueue;
    const shown = await get(`/${id}/next?labeller=Ada%20L`);
    const task = (await shown.json()) as LabelTask;
    expect(task.responses.toSorted()).toEqual(['\u001b[31mred', '<script>x</script>']);
    const choice = task.responses.indexOf('\u001b[31mred');
    const answer = { task: task.id, labeller: 'Ada L', answer: { kind: 'pair', choice } };
    expect(await (await post(`/${id}/answers`, answer)).json()).toMatchObject({
      ...{ id, answered: 1, labellers: [{ name: 'Ada L', answers: 1 }] },
    });
    expect((await get(`/${id}/next?labeller=Ada%20L`)).status).toBe(204);
    expect(await (await post(`/${id}/undo`, { labeller: 'Ada L' })).json()).toEqual(task);
    await post(`/${id}/answers`, answer);
    const exported = await get(`/${id}/export`);
    expect(exported.headers.get('content-disposition')).toBe(`attachment; filename="${id}.jsonl"`);
    expect(JSON.parse(await exported.text())).toEqual({
      ...{ prompt: '<b>p</b>', chosen: '\u001b[31mred', rejected: '<script>x</script>' },
    });
    expect(await (await get('')).json()).toMatchObject([{ id, total: 1, answered: 1 }]);
  });

  it('rejects files outside its folders without details', async () => {
    const { root, outside, create, post } = makeApp();
    for (const file of [
      join(outside, 'rows.jsonl'),
      join(outside, 'none.jsonl'),
      `${root}/../${outside.split('/').at(-1)}/rows.jsonl`,
      '/etc/passwd',
      '../../../../../../etc/passwd',
    ]) {
      const refused = await create(file);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toEqual({
        error: `Cannot use ${file}: it must be in the folder where the dashboard was started, or in a folder that it shows; copy it there`,
      });
    }
    const generate = (model: string, prompts: string) =>
      post('', { name: 'x', kind: 'pair', source: { from: 'generate', model, prompts } });
    expect((await generate(root, join(outside, 'rows.jsonl'))).status).toBe(403);
    expect((await generate(outside, join(root, 'rows.jsonl'))).status).toBe(403);
  });

  it.each<[string, unknown, number, string]>([
    ['/none-000000/answers', {}, 400, 'Cannot save the answer: task must be the id of a task'],
    ['/none-000000/undo', { labeller: 'Ada' }, 404, 'Cannot find the queue'],
    ['/..%2f..%2fetc/undo', { labeller: 'Ada' }, 404, 'Cannot find the queue'],
    ['/none-000000/undo', null, 400, 'Cannot undo: the labeller must be text'],
    ['/none-000000/undo', { labeller: { a: 1 } }, 400, 'Cannot undo: the labeller must be text'],
    ['', '{"name":', 400, 'Cannot read the request: it must be JSON'],
    ['', [], 400, 'Cannot create the queue: it must be an object, got []'],
  ])('answers %s with one sentence', async (path, body, status, start) => {
    const { post } = makeApp();
    const refused = await post(path, body);
    expect(refused.status).toBe(status);
    const { error } = (await refused.json()) as { error: string };
    expect(error.startsWith(start), error).toBe(true);
  });

  it('requires a labeller for a task', async () => {
    const { get } = makeApp();
    const refused = await get('/none-000000/next');
    expect(refused.status).toBe(400);
  });
});
