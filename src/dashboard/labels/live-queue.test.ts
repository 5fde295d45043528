import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { appendJsonLines } from '../../fs/index.ts';
import { locateHumanFiles } from '../../reward-kl/index.ts';
import { humanFolder, readHumanScores } from '../../run/human-scores.ts';
import { LabelStore } from './label-store.ts';

/** A run that waits for scores of three responses. */
function makeWaitingRun() {
  const folder = makeTempFolder();
  const { requests } = locateHumanFiles(humanFolder(folder));
  const time = new Date().toISOString();
  const rows = ['a', 'b', 'c'].map((id) => {
    return { id, step: 1, prompt: `prompt ${id}`, response: `response ${id}`, time };
  });
  mkdirSync(humanFolder(folder));
  appendJsonLines(requests, rows);
  const run = { id: '0f', name: 'waiting', folder };
  const other = { id: '1e', name: 'other', folder: makeTempFolder() };
  const store = new LabelStore({ folder: makeTempFolder(), runs: async () => [run, other] });
  const close = (...closed: string[]) => appendJsonLines(requests, [{ closed, time }]);
  return { store, folder, close };
}

const id = 'live-0f';
const rate = (task: string, rating: number) => ({
  ...{ task, labeller: 'Ada' },
  answer: { kind: 'rating', rating } as const,
});

describe('the live queue of a run', () => {
  it('exists only for runs that ask people', async () => {
    const { store } = makeWaitingRun();
    expect(await store.list()).toEqual([
      {
        ...{
          id,
          name: 'Scores for waiting',
          kind: 'rating',
          live: true,
          run: '0f',
          next: [],
          question: 'How good is the response?',
          total: 3,
          answered: 0,
        },
        ...{ labellers: [], agreement: null, alpha: null },
      },
    ]);
    await expect(store.next('live-1e', 'Ada')).rejects.toThrow('Cannot find the queue');
  });

  it('writes ratings as scores: 1 is −1, 4 is ½, 5 is 1', async () => {
    const { store, folder } = makeWaitingRun();
    await store.answer(id, { ...rate('a', 1), note: 'bad' });
    await store.answer(id, rate('b', 4));
    const progress = await store.answer(id, rate('c', 5));
    expect(progress).toMatchObject({ answered: 3, labellers: [{ name: 'Ada', answers: 3 }] });
    expect(await readHumanScores(folder)).toMatchObject([
      { request: 'a', score: -1, labeller: 'Ada', note: 'bad' },
      { request: 'b', score: 0.5 },
      { request: 'c', score: 1 },
    ]);
    expect(await store.next(id, 'Ada')).toBeUndefined();
  });

  it('writes the same score once, however often and simultaneously it arrives', async () => {
    const { store, folder } = makeWaitingRun();
    const given = { ...rate('a', 4), note: 'good' };
    await Promise.all([1, 2, 3].map(() => store.answer(id, given)));
    await store.answer(id, given);
    const scores = await readHumanScores(folder);
    expect(scores).toMatchObject([{ request: 'a', score: 0.5, labeller: 'Ada', note: 'good' }]);
    expect(scores).toHaveLength(1);
    await store.answer(id, { ...given, labeller: 'Bob' });
    await expect(store.answer(id, rate('a', 5))).rejects.toThrow(
      'Ada has already answered task a differently; undo that answer first',
    );
    const others = await Promise.allSettled([2, 3].map((n) => store.answer(id, rate('b', n))));
    // Either may be the first.
    const outcomes = others.map(({ status }) => status).toSorted();
    expect(outcomes).toEqual(['fulfilled', 'rejected']);
    expect(await readHumanScores(folder)).toHaveLength(3);
  });

  it('shows open requests, unrated ones first', async () => {
    const { store, close } = makeWaitingRun();
    await store.answer(id, rate('a', 3));
    close('c');
    const task = await store.next(id, 'Bob');
    expect(task).toEqual({
      id: 'b',
      kind: 'rating',
      prompt: 'prompt b',
      responses: ['response b'],
    });
    expect(await store.progress(id)).toMatchObject({ total: 2, answered: 1 });
    await expect(store.answer(id, rate('c', 3))).rejects.toThrow(
      'Cannot save the answer: task must be in the queue, got "c"',
    );
  });

  it('counts only answers to open requests', async () => {
    const { store, close } = makeWaitingRun();
    await store.answer(id, rate('a', 3));
    await store.answer(id, rate('b', 3));
    close('a');
    const labellers = [{ name: 'Ada', answers: 1 }];
    expect(await store.progress(id)).toMatchObject({ total: 2, answered: 1, labellers });
  });

  it('withdraws a score as null unless the run has used it', async () => {
    const { store, folder, close } = makeWaitingRun();
    await store.answer(id, rate('a', 5));
    expect((await store.undo(id, 'Ada')).id).toBe('a');
    expect((await readHumanScores(folder)).at(-1)).toMatchObject({ request: 'a', score: null });
    await store.answer(id, rate('a', 2));
    close('a', 'b', 'c');
    await expect(store.undo(id, 'Ada')).rejects.toThrow(
      'Cannot undo: the run has already used this score',
    );
    expect(await store.export(id)).toBe(
      '{"prompt":"prompt a","completion":"response a","rating":2}\n',
    );
  });
});
