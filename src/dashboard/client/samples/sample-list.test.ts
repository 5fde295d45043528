import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../../api.ts';
import { PAGE_SIZE, queryUntil, RowPages } from './sample-list.ts';

const rowAt = (index: number): SampleRow => ({
  index,
  step: index,
  promptIdx: 0,
  sample: 0,
  prompt: 'p',
  response: 'r',
  score: 1,
  sourceScores: null,
  kl: 0,
  length: 1,
  finished: true,
  turns: null,
  hasTokens: false,
});

/** Pages of `total` rows with the offsets that were requested; `settle` waits for all requests. */
function createPages(total: number) {
  const requested: number[] = [];
  const pages = new RowPages({
    load: async (offset) => {
      requested.push(offset);
      const count = Math.max(0, Math.min(PAGE_SIZE, total - offset));
      return { total, rows: Array.from({ length: count }, (_, i) => rowAt(offset + i)) };
    },
    onChange: () => {},
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  return { pages, requested, settle };
}

describe('RowPages', () => {
  test('want() loads each page of the rows once', async () => {
    const { pages, requested, settle } = createPages(20_000);
    pages.want({ first: 0, end: 30 });
    await settle();
    expect(pages.total).toBe(20_000);
    pages.want({ first: 180, end: 210 });
    await settle();
    pages.want({ first: 190, end: 220 });
    await settle();
    expect(requested).toEqual([0, 100, 200]);
    expect(pages.row(205)?.index).toBe(205);
    expect(pages.row(300)).toBeUndefined();
  });

  test('pages that were only scrolled past are not requested', async () => {
    const { pages, requested, settle } = createPages(20_000);
    pages.want({ first: 0, end: 30 });
    await settle();
    for (let first = 100; first <= 15_000; first += 100) pages.want({ first, end: first + 30 });
    await settle();
    expect(requested).toEqual([0, 100, 200, 15_000]);
    expect(pages.row(15_029)?.index).toBe(15_029);
  });

  test('only the 40 pages used last are cached', async () => {
    const { pages, requested, settle } = createPages(20_000);
    for (let first = 0; first < 4100; first += 100) {
      pages.want({ first, end: first + 10 });
      await settle();
    }
    expect(pages.row(0)).toBeUndefined();
    expect(pages.row(100)?.index).toBe(100);
    pages.want({ first: 0, end: 10 });
    await settle();
    expect(requested.at(-1)).toBe(0);
    expect(pages.row(0)?.index).toBe(0);
  });

  test('a query without rows has a total of 0', async () => {
    const { pages, settle } = createPages(0);
    pages.want({ first: 0, end: 30 });
    await settle();
    expect(pages.total).toBe(0);
    expect(pages.row(0)).toBeUndefined();
  });

  test('a failed page reports its error and is loaded when it is wanted again', async () => {
    let fails = true;
    let changes = 0;
    const pages = new RowPages({
      load: async () => {
        if (fails) throw new Error('The server is gone');
        return { total: 1, rows: [rowAt(0)] };
      },
      onChange: () => changes++,
    });
    pages.want({ first: 0, end: 10 });
    await new Promise((resolve) => setTimeout(resolve));
    expect(pages.error).toBe('The server is gone');
    expect(changes).toBe(1);
    fails = false;
    pages.want({ first: 0, end: 10 });
    await new Promise((resolve) => setTimeout(resolve));
    expect(pages.error).toBeUndefined();
    expect(pages.row(0)?.index).toBe(0);
  });
});

test('queryUntil() ends at the earlier of the given step and the query’s own', () => {
  expect(queryUntil({}, 7)).toEqual({ toStep: 7 });
  expect(queryUntil({ toStep: 9 }, 7)).toEqual({ toStep: 7 });
  expect(queryUntil({ toStep: 3 }, 7)).toEqual({ toStep: 3 });
});
