import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTasks, combinations, differentResponses } from './make-tasks.ts';

const group = (prompt: string, ...texts: string[]) => ({
  prompt,
  responses: texts.map((text, sample) => ({ text, from: { sample } })),
});
const textsOf = ({ responses }: { responses: readonly { text: string }[] }) =>
  responses.map(({ text }) => text);

describe('buildTasks()', () => {
  const groups = [group('a', '1', '2', '3', '4'), group('b', '5', '6'), group('c', '7')];

  it('takes one task per prompt before a second of any', () => {
    const tasks = buildTasks(groups, { responses: 2, limit: 2, seed: 0 });
    expect(tasks.map(({ prompt }) => prompt).toSorted()).toEqual(['a', 'b']);
    expect(tasks.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('builds every pair if the limit allows', () => {
    const tasks = buildTasks(groups, { responses: 2, limit: 100, seed: 0 });
    expect(tasks.filter(({ prompt }) => prompt === 'a')).toHaveLength(6);
    expect(tasks.filter(({ prompt }) => prompt === 'b')).toHaveLength(1);
    expect(tasks.filter(({ prompt }) => prompt === 'c')).toHaveLength(0);
    for (const task of tasks) expect(new Set(textsOf(task)).size).toBe(2);
  });

  it('builds rankings of the given size, or of all responses', () => {
    const three = buildTasks(groups, { responses: 3, limit: 1, seed: 0 });
    expect(three.map((task) => textsOf(task).length)).toEqual([3]);
    const all = buildTasks(groups.slice(0, 2), { responses: undefined, limit: 9, seed: 0 });
    expect(all.map((task) => textsOf(task).length).toSorted()).toEqual([2, 4]);
  });

  it('the same seed selects the same tasks', () => {
    const many = Array.from({ length: 30 }, (_, i) => group(`p${i}`, 'x', 'y', 'z'));
    const choose = (seed: number) => buildTasks(many, { responses: 2, limit: 10, seed });
    expect(choose(1)).toEqual(choose(1));
    expect(choose(1)).not.toEqual(choose(2));
  });
});

it('differentResponses() keeps the first of equal texts and no empty ones', () => {
  const { responses } = group('a', 'x', ' ', 'y', 'x', '');
  expect(differentResponses(responses)).toEqual([
    { text: 'x', from: { sample: 0 } },
    { text: 'y', from: { sample: 2 } },
  ]);
});

describe('combinations()', () => {
  it('returns the pairs of four, disjoint ones first', () => {
    expect([...combinations(4, 2)]).toEqual([
      [0, 1],
      [2, 3],
      [1, 2],
      [3, 0],
      [0, 2],
      [1, 3],
    ]);
  });

  it('returns single indices for n = 1 and nothing if n > k', () => {
    expect([...combinations(3, 1)]).toEqual([[0], [1], [2]]);
    expect([...combinations(1, 1)]).toEqual([[0]]);
    expect([...combinations(3, 3)]).toEqual([[0, 1, 2]]);
    expect([...combinations(1, 2)]).toEqual([]);
  });

  it('never repeats a set or an index in it, and returns every pair', () => {
    const sizes = fc.record({
      k: fc.integer({ min: 1, max: 12 }),
      n: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(sizes, ({ k, n }) => {
        const sets = [...combinations(k, n)];
        expect(sets.every((places) => new Set(places).size === n)).toBe(true);
        expect(sets.flat().every((place) => place >= 0 && place < k)).toBe(true);
        const keys = sets.map((places) => places.toSorted((a, b) => a - b).join());
        expect(new Set(keys).size).toBe(sets.length);
        if (n === 2) expect(sets).toHaveLength((k * (k - 1)) / 2);
        if (n <= k) expect(new Set(sets.flat()).size).toBe(k);
      }),
    );
  });
});
