import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { writeRows } from '../../../test/helpers/stage-setup.ts';
import type { LabelTaskKind, NewQueue } from '../api.ts';
import { LabelStore } from './label-store.ts';

const rows = [
  { prompt: 'p', responses: ['a', 'b', 'c'] },
  { prompt: 'q', chosen: 'd', rejected: 'e' },
];

function makeStore(content: readonly object[] = rows) {
  const folder = makeTempFolder();
  const labels = join(folder, 'labels');
  const file = writeRows(folder, 'rows.jsonl', content);
  const create = (kind: LabelTaskKind, change: Partial<NewQueue> = {}) =>
    store.create({ name: 'Helpful?', kind, source: { from: 'file', file }, ...change });
  const store = new LabelStore({ folder: labels });
  return { store, folder, labels, file, create };
}

describe('LabelStore', () => {
  it('creates queues from a file that another store can open', async () => {
    const { labels, create, file } = makeStore();
    const [pair, rating, ranking] = [
      await create('pair'),
      await create('rating'),
      await create('ranking', { limit: 1 }),
    ];
    expect([pair.total, rating.total, ranking.total]).toEqual([4, 5, 1]);
    expect(pair.id).toMatch(/^helpful-[0-9a-f]{6}$/);
    const found = await new LabelStore({ folder: labels }).list();
    expect(found.map(({ id }) => id).toSorted()).toEqual(
      [pair, rating, ranking].map(({ id }) => id).toSorted(),
    );
    const header = JSON.parse(readFileSync(join(labels, pair.id, 'queue.json'), 'utf8'));
    expect(header).toMatchObject({
      name: 'Helpful?',
      kind: 'pair',
      source: { from: 'file', file },
    });
  });

  it.each<[object, string]>([
    [{ prompt: 7, responses: ['a', 'b'] }, '"prompt" must be text, got number'],
    [{ prompt: ' ', responses: ['a', 'b'] }, '"prompt" must be text, got none'],
    [{ prompt: 'p' }, 'it must have "responses", or "chosen" and "rejected", got "prompt"'],
    [{ prompt: 'p', responses: 'a' }, '"responses" must be a list, got string'],
    [{ prompt: 'p', responses: ['a', null] }, '"responses" must be text, got null'],
    [{ prompt: 'p', chosen: 'a', rejected: '' }, '"rejected" must be text, got none'],
    [{ prompt: 'p', responses: ['a', 'a'] }, 'it must have at least 2 different responses, got 1'],
  ])('names the line of %j', async (bad, fault) => {
    const { create, file, labels } = makeStore([rows[0]!, bad]);
    await expect(create('pair')).rejects.toThrow(`Cannot read ${file} line 2: ${fault}`);
    expect(existsSync(labels)).toBe(false);
  });

  it('reports what is wrong with a source', async () => {
    const { store, create, folder } = makeStore();
    const source = { from: 'file', file: join(folder, 'none.jsonl') } as const;
    await expect(create('pair', { source })).rejects.toThrow(
      'none.jsonl: it must be a file, got no such file',
    );
    await expect(create('pair', { source: { ...source, file: folder } })).rejects.toThrow(
      'it must be a file, got something else',
    );
    await expect(create('pair', { responses: 3 })).rejects.toThrow(
      'Cannot create the queue: responses of a pair must be 2, got 3; leave it out',
    );
    await expect(create('pair', { source: { from: 'samples', run: 'x' } })).rejects.toThrow(
      'Cannot create the queue: run must be the id of a listed run, got "x"',
    );
    expect(await store.list()).toEqual([]);
  });

  it('pairs the samples of a run', async () => {
    const { folder, labels } = makeStore();
    const run = join(folder, 'run');
    mkdirSync(run);
    const samples = ['one', 'two', 'two', 'three'].map((response, i) => {
      return { step: i + 1, promptIdx: 0, sample: 0, prompt: 'p', response };
    });
    writeRows(run, 'samples.jsonl', [...samples, { ...samples[0], prompt: 'q' }]);
    const runs = async () => [{ id: 'r', name: 'run', folder: run }];
    const store = new LabelStore({ folder: labels, runs });
    const create = (fromStep: number) =>
      store.create({ name: 'x', kind: 'pair', source: { from: 'samples', run: 'r', fromStep } });
    const { id, total } = await create(0);
    expect(total).toBe(3);
    const tasks = readFileSync(join(labels, id, 'tasks.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    const [first] = JSON.parse(tasks[0]!).responses;
    expect(first.from).toEqual({ run: 'run', step: expect.any(Number), sample: 0 });
    await expect(create(4)).rejects.toThrow(
      'Cannot create the queue: its source must have 2 different responses to one prompt, but has none among 1 prompt',
    );
  });

  it('notifies listeners until they unsubscribe', async () => {
    const { store, create } = makeStore();
    let changes = 0;
    const stop = store.onChange(() => changes++);
    const { id } = await create('rating');
    const { id: task } = (await store.next(id, 'Ada'))!;
    const answer = { kind: 'rating', rating: 5 } as const;
    await store.answer(id, { task, labeller: 'Ada', answer });
    await store.undo(id, 'Ada');
    expect(changes).toBe(3);
    await expect(store.undo(id, 'Ada')).rejects.toThrow('Cannot undo');
    stop();
    await store.answer(id, { task, labeller: 'Ada', answer });
    expect(changes).toBe(3);
  });

  it('ignores spaces around the name of a labeller', async () => {
    const { store, create } = makeStore();
    const { id } = await create('rating', { limit: 1 });
    await store.answer(id, { task: '1', labeller: ' Ada', answer: { kind: 'rating', rating: 5 } });
    expect(await store.next(id, 'Ada ')).toBeUndefined();
  });

  it.each(['../labels', '..', '', 'a/b', 'A', 'x'.repeat(70), '.x.tmp', 'none-000000'])(
    'finds no queue %j',
    async (id) => {
      const { store, create } = makeStore();
      await create('pair');
      await expect(store.next(id, 'Ada')).rejects.toThrow(
        'Cannot find the queue: its id must be in the list',
      );
    },
  );

  it('leaves damaged queues out of the list and reports the damage when opened', async () => {
    const { store, create, labels } = makeStore();
    const { id } = await create('pair');
    mkdirSync(join(labels, 'damaged'));
    writeFileSync(join(labels, 'damaged/queue.json'), '{"name":');
    mkdirSync(join(labels, 'other-folder'));
    expect((await store.list()).map((queue) => queue.id)).toEqual([id]);
    await expect(store.next('damaged', 'Ada')).rejects.toThrow(
      /damaged.queue\.json: it must be JSON/,
    );
  });

  it('forgets queues whose folder is deleted', async () => {
    const { store, create, labels } = makeStore();
    const { id } = await create('pair');
    rmSync(join(labels, id), { recursive: true });
    expect(await store.list()).toEqual([]);
    await expect(store.progress(id)).rejects.toThrow('Cannot find the queue');
    expect(readdirSync(labels)).toEqual([]);
  });

  it('exports nothing but answers', async () => {
    const { store, create } = makeStore();
    const { id } = await create('pair', { limit: 1 });
    const nothing =
      'Cannot export the queue: it must have answers with a preference or rating, got none';
    await expect(store.export(id)).rejects.toThrow(nothing);
    const answer = { kind: 'pair', choice: 'both-bad' } as const;
    await store.answer(id, { task: '1', labeller: 'Ada', answer });
    await expect(store.export(id)).rejects.toThrow(nothing);
  });
});
