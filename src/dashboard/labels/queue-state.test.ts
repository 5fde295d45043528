import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showOrder, taskOrder, toStored } from './queue-state.ts';

const keys = fc.record({ queue: fc.string(), task: fc.string(), labeller: fc.string() });

describe('showOrder()', () => {
  it('shows each response once, in the same order to the same labeller', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), keys, (count, key) => {
        const order = showOrder(count, key);
        expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
        expect(showOrder(count, { ...key })).toEqual(order);
      }),
    );
  });

  it('shows each side of a pair first about as often, to one labeller and over labellers', () => {
    const first = (key: object) =>
      showOrder(2, { queue: 'q', task: '1', labeller: 'Ada', ...key })[0]!;
    const all = Array.from({ length: 400 }, (_, i) => String(i));
    const sum = (firsts: number[]) => firsts.reduce((total, place) => total + place, 0);
    for (const count of [
      sum(all.map((task) => first({ task }))),
      sum(all.map((labeller) => first({ labeller }))),
      sum(all.map((queue) => first({ queue }))),
    ]) {
      // Four deviations of 400 fair coins are 40.
      expect(Math.abs(count - 200)).toBeLessThan(40);
    }
  });
});

describe('taskOrder()', () => {
  it('two labellers start with different tasks', () => {
    const tasks = Array.from({ length: 50 }, (_, i) => i);
    const [ada, bob] = ['Ada', 'Bob'].map((labeller) => taskOrder(tasks, { queue: 'q', labeller }));
    expect(ada).not.toEqual(bob);
    expect(ada!.toSorted((a, b) => a - b)).toEqual(tasks);
  });
});

describe('toStored()', () => {
  it('converts shown indices to stored ones', () => {
    const order = [2, 0, 1];
    expect(toStored({ kind: 'ranking', order: [1, 0, 2] }, order)).toEqual({
      kind: 'ranking',
      order: [0, 2, 1],
    });
    expect(toStored({ kind: 'pair', choice: 0 }, [1, 0])).toEqual({ kind: 'pair', choice: 1 });
  });

  it('keeps answers without an index', () => {
    const tie = { kind: 'pair', choice: 'tie' } as const;
    expect(toStored(tie, [1, 0])).toEqual(tie);
    expect(toStored({ kind: 'rating', rating: 4 }, [0])).toEqual({ kind: 'rating', rating: 4 });
  });
});
