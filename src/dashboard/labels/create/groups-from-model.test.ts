import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTrainFolder } from '../../../../test/helpers/train-setup.ts';
import { labelRoutes } from '../label-routes.ts';
import { LabelStore } from '../label-store.ts';
import { groupsFromModel } from './groups-from-model.ts';

const folder = await makeTrainFolder();
const source = {
  from: 'generate',
  model: join(folder, 'model'),
  prompts: join(folder, 'prompts.jsonl'),
  maxNewTokens: 6,
} as const;

describe('groupsFromModel()', () => {
  // It comes first, because later tests use the same thread.
  it('parses the file of prompts in another thread', async () => {
    const threads: unknown[] = [];
    const count = (thread: unknown) => threads.push(thread);
    process.on('worker', count);
    onTestFinished(() => void process.off('worker', count));
    await groupsFromModel({ ...source, name: 'model', samples: 1, limit: 1, seed: 3 });
    expect(threads).toHaveLength(1);
  });

  it('generates different responses to selected prompts and reports progress', async () => {
    const told: number[][] = [];
    const groups = await groupsFromModel({
      ...source,
      ...{ name: 'model', samples: 2, limit: 10, seed: 3 },
      onProgress: (done, total) => told.push([done, total]),
    });
    expect(told).toEqual([
      [0, 10],
      [8, 10],
      [10, 10],
    ]);
    expect(new Set(groups.map(({ prompt }) => prompt)).size).toBe(10);
    const [{ responses }] = groups as [(typeof groups)[0]];
    expect(responses[0]!.from).toEqual({ model: 'model', sample: 0 });
    expect(responses[0]!.text).not.toBe(responses[1]!.text);
    expect(groups.filter((group) => group.responses.length === 2).length).toBeGreaterThan(7);
    expect(groups.every((group) => group.responses.length <= 2)).toBe(true);
  });

  it('fills a queue, one at a time', async () => {
    const store = new LabelStore({ folder: join(folder, 'labels'), roots: [folder] });
    const create = () => store.create({ name: 'Fresh', kind: 'rating', source, limit: 3 });
    const [first, second] = await Promise.allSettled([create(), create()]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { total: 3 } });
    expect(String((second as PromiseRejectedResult).reason)).toContain(
      'only one model may generate at a time; wait for the other one',
    );
    expect((await create()).total).toBe(3);
  });

  it('reports its progress and its end', async () => {
    const store = new LabelStore({ folder: join(folder, 'told-labels'), roots: [folder] });
    const told: unknown[] = [];
    const routes = labelRoutes({ store, onFilling: (queue) => told.push(queue) });
    const body = JSON.stringify({ name: 'Fresh', kind: 'rating', source, limit: 10 });
    expect((await routes.request('/', { method: 'POST', body })).status).toBe(200);
    const queue = (done: number) => ({ name: 'Fresh', done, total: 10 });
    expect(told).toEqual([queue(0), queue(8), queue(10), null]);
  });

  it('stops early when aborted and leaves nothing behind', async () => {
    const store = new LabelStore({ folder: join(folder, 'no-labels') });
    const stop = new AbortController();
    const made = store.create(
      { name: 'Fresh', kind: 'pair', source },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    await expect(made).rejects.toThrow(/abort/i);
    expect(await store.list()).toEqual([]);
  });

  it('reports a model that cannot be loaded in one sentence', async () => {
    const store = new LabelStore({ folder: join(folder, 'no-labels'), roots: [folder] });
    const make = (model: string) =>
      store.create({ name: 'x', kind: 'pair', source: { ...source, model } });
    await expect(make(folder)).rejects.toThrow('it must be a run, an adapter or a whole model');
    await expect(make(join(folder, 'none'))).rejects.toThrow(/^Cannot find model /);
  });
});
