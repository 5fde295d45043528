import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chooseFirst, makeLabelQueue, readAnswerRows } from '../../../test/helpers/label-queue.ts';
import type { LabelChoice } from '../api.ts';
import { answersPath } from './queue-folder.ts';
import { StoredQueue } from './stored-queue.ts';

describe('StoredQueue', () => {
  it('stores the chosen response regardless of the side it was shown on', async () => {
    const folder = await makeLabelQueue('pair', 24);
    const queue = new StoredQueue(folder);
    const shown = new Set<string>();
    for (let i = 0; i < 24; i++) {
      const { responses } = await chooseFirst(queue, 'Ada');
      shown.add(responses.map((text) => text.slice(-1)).join());
    }
    expect(shown).toEqual(new Set(['0,1', '1,0']));
    expect(await queue.next('Ada')).toBeUndefined();
    for (const row of readAnswerRows(folder)) {
      expect(row.answer).toEqual({ kind: 'pair', choice: 0 });
      expect(row.order.toSorted()).toEqual([0, 1]);
      expect(Date.parse(row.time)).toBeGreaterThan(0);
    }
    const exported = await queue.export();
    expect(exported[4]).toEqual({ prompt: 'prompt 5', chosen: '5.0', rejected: '5.1' });
  });

  it('converts rankings to stored indices', async () => {
    const queue = new StoredQueue(await makeLabelQueue('ranking', 1));
    const task = (await queue.next('Ada'))!;
    const order = ['1.2', '1.0', '1.1'].map((text) => task.responses.indexOf(text));
    await queue.answer({ task: '1', labeller: 'Ada', answer: { kind: 'ranking', order } });
    expect(await queue.export()).toEqual([
      { prompt: 'prompt 1', completions: ['1.0', '1.1', '1.2'], ranking: [2, 0, 1] },
    ]);
  });

  it('hides the origin of responses', async () => {
    const queue = new StoredQueue(await makeLabelQueue('pair', 1));
    const task = await queue.next('Ada');
    expect(Object.keys(task!)).toEqual(['id', 'kind', 'prompt', 'responses']);
    expect(task!.responses.toSorted()).toEqual(['1.0', '1.1']);
    expect(await queue.next('Ada')).toEqual(task);
  });

  it('every task gets one answer before any gets two', async () => {
    const queue = new StoredQueue(await makeLabelQueue('pair', 6));
    const done: string[] = [];
    for (const labeller of ['Ada', 'Bob', 'Ada', 'Cy', 'Bob', 'Ada']) {
      done.push((await chooseFirst(queue, labeller)).id);
    }
    expect(done.toSorted()).toEqual(['1', '2', '3', '4', '5', '6']);
    const seventh = await chooseFirst(queue, 'Cy');
    expect(done[3]).not.toBe(seventh.id);
    expect(await queue.progress()).toMatchObject({
      ...{ total: 6, answered: 6, agreement: 1, live: false, kind: 'pair' },
      labellers: [
        { name: 'Ada', answers: 3 },
        { name: 'Bob', answers: 2 },
        { name: 'Cy', answers: 2 },
      ],
    });
  });

  it('undo removes the labeller’s last answer, then the one before', async () => {
    const queue = new StoredQueue(await makeLabelQueue('pair', 4));
    const first = await chooseFirst(queue, 'Ada');
    const second = await chooseFirst(queue, 'Ada');
    await chooseFirst(queue, 'Bob');
    expect(await queue.undo('Ada')).toEqual(second);
    expect(await queue.undo('Ada')).toEqual(first);
    await expect(queue.undo('Ada')).rejects.toThrow('Cannot undo: Ada has no answer in this queue');
    expect((await queue.progress()).labellers).toEqual([{ name: 'Bob', answers: 1 }]);
  });

  it.each<[string, LabelChoice, string, string]>([
    ['an unknown task', { kind: 'pair', choice: 0 }, '9', 'task must be in the queue, got "9"'],
    ['the wrong kind', { kind: 'rating', rating: 3 }, '1', 'it must be of kind pair, got rating'],
  ])('rejects %s', async (_, answer, task, fault) => {
    const folder = await makeLabelQueue('pair', 1);
    const given = { task, labeller: 'Ada', answer };
    await expect(new StoredQueue(folder).answer(given)).rejects.toThrow(
      `Cannot save the answer: ${fault}`,
    );
    expect(readFileSync(answersPath(folder), 'utf8')).toBe('');
  });

  it.each([[[0, 1]], [[0, 1, 1]], [[0, 1, 3]], [[0, 1, 2, 0]], [[0.5, 1, 2]]])(
    'rejects the ranking %j of three',
    async (order) => {
      const queue = new StoredQueue(await makeLabelQueue('ranking', 1));
      await expect(
        queue.answer({ task: '1', labeller: 'Ada', answer: { kind: 'ranking', order } }),
      ).rejects.toThrow(
        `Cannot save the answer: order must list each of the 3 responses, 0 to 2, once, got ${JSON.stringify(order)}`,
      );
    },
  );

  it('rejects a different second answer, even of two at once; the same one changes nothing', async () => {
    const folder = await makeLabelQueue('pair', 1);
    const queue = new StoredQueue(folder);
    const given = { task: '1', labeller: 'Ada', answer: { kind: 'pair', choice: 'tie' } } as const;
    const other = { ...given, answer: { kind: 'pair', choice: 0 } } as const;
    const results = await Promise.allSettled([given, other, given].map((a) => queue.answer(a)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(readAnswerRows(folder)).toHaveLength(1);
    await expect(queue.answer(other)).rejects.toThrow(
      'Ada has already answered task 1 differently; undo that answer first',
    );
  });
});
