import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseFirst, makeLabelQueue, readAnswerRows } from '../../../test/helpers/label-queue.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { answersPath } from './queue-folder.ts';
import { StoredQueue } from './stored-queue.ts';

describe('the answers of a StoredQueue', () => {
  it('two stores can write at once and see each other’s answers', async () => {
    const folder = await makeLabelQueue('rating', 20);
    const queues = [new StoredQueue(folder), new StoredQueue(folder)];
    const answer = { kind: 'rating', rating: 4 } as const;
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        queues.map((queue, q) =>
          queue.answer({ task: String(i + 1), labeller: `person ${q}`, answer }),
        ),
      ).flat(),
    );
    expect(readAnswerRows(folder)).toHaveLength(40);
    for (const queue of queues) {
      expect(await queue.progress()).toMatchObject({ answered: 20, agreement: 1, alpha: null });
    }
  });

  it('ignores an incomplete line, even if more lines follow', async () => {
    const folder = await makeLabelQueue('pair', 3);
    const queue = new StoredQueue(folder);
    await chooseFirst(queue, 'Ada');
    appendFileSync(answersPath(folder), '{"task":"2","labeller":"Ada","answer":{"ki');
    expect((await queue.progress()).answered).toBe(1);
    await chooseFirst(queue, 'Ada');
    for (const one of [queue, new StoredQueue(folder)]) {
      expect((await one.progress()).answered).toBe(2);
    }
  });

  it('ignores rows for other tasks and starts over if the answers are deleted', async () => {
    const folder = await makeLabelQueue('pair', 3);
    const queue = new StoredQueue(folder);
    await chooseFirst(queue, 'Ada');
    const strange = [
      7,
      { task: '9', labeller: 'Ada', answer: { kind: 'pair', choice: 0 }, time: '', order: [0, 1] },
      { task: '2', labeller: 'Ada', answer: { kind: 'rating', rating: 3 }, time: '', order: [0] },
      { undo: '9', labeller: 'Ada', time: '' },
    ];
    appendFileSync(answersPath(folder), strange.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect((await queue.progress()).answered).toBe(1);
    writeFileSync(answersPath(folder), '');
    expect((await queue.progress()).answered).toBe(0);
    rmSync(answersPath(folder));
    await chooseFirst(queue, 'Ada');
    expect((await queue.progress()).answered).toBe(1);
  });

  it('has the same state when read again, after any answers and undos', async () => {
    const labels = makeTempFolder();
    const step = fc.record({
      labeller: fc.constantFrom('Ada', 'Bob', 'Cy'),
      does: fc.constantFrom('answer', 'answer', 'undo'),
      choice: fc.constantFrom(0 as const, 1 as const, 'tie' as const, 'both-bad' as const),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const folder = await makeLabelQueue('pair', 4, labels);
      const queue = new StoredQueue(folder);
      const done = new Map<string, string[]>();
      for (const { labeller, does, choice } of steps) {
        const own = done.get(labeller) ?? [];
        done.set(labeller, own);
        if (does === 'undo') {
          const last = own.pop();
          if (last !== undefined) expect((await queue.undo(labeller)).id).toBe(last);
          continue;
        }
        const task = await queue.next(labeller);
        expect(task === undefined).toBe(own.length === 4);
        if (task === undefined) continue;
        expect(own).not.toContain(task.id);
        await queue.answer({ task: task.id, labeller, answer: { kind: 'pair', choice } });
        own.push(task.id);
      }
      const again = new StoredQueue(folder);
      expect(await again.progress()).toEqual(await queue.progress());
      expect(await again.export()).toEqual(await queue.export());
      for (const labeller of ['Ada', 'Bob', 'Cy']) {
        expect(await again.next(labeller)).toEqual(await queue.next(labeller));
      }
      const counts = [...done].map(([name, { length }]) => ({ name, answers: length }));
      const people = counts.filter(({ answers }) => answers > 0);
      expect((await again.progress()).labellers).toEqual(
        people.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });
    await fc.assert(property, { numRuns: 25 });
  });
});
