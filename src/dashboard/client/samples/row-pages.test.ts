import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../../api.ts';
import { PAGE_SIZE, RowPages } from './row-pages.ts';

const rowAt = (index: number): SampleRow => ({
  index,
  step: index,
  promptIdx: 0,
  sample: 0,
  prompt: 'p',
  response: 'r',
  score: 1,
  kl: 0,
  length: 1,
  finished: true,
  hasTokens: false,
});

/** Pages of `total` rows, with what was asked for; `settle` waits until nothing is under way. */
function makePages(total: number) {
  const asked: number[] = [];
  const pages = new RowPages({
    load: async (offset) => {
      asked.push(offset);
      const count = Math.max(0, Math.min(PAGE_SIZE, total - offset));
      return { total, rows: Array.from({ length: count }, (_, i) => rowAt(offset + i)) };
    },
    onChange: () => {},
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  return { pages, asked, settle };
}

describe('RowPages', () => {
  test('want() fetches the pages of the rows once', async () => {
    const { pages, asked, settle } = makePages(20_000);
    pages.want({ first: 0, end: 30 });
    await settle();
    expect(pages.total).toBe(20_000);
    pages.want({ first: 180, end: 210 });
    await settle();
    pages.want({ first: 190, end: 220 });
    await settle();
    expect(asked).toEqual([0, 100, 200]);
    expect(pages.row(205)?.index).toBe(205);
    expect(pages.row(300)).toBeUndefined();
  });

  test('pages that were only scrolled past are not asked for', async () => {
    const { pages, asked, settle } = makePages(20_000);
    pages.want({ first: 0, end: 30 });
    await settle();
    for (let first = 100; first <= 15_000; first += 100) pages.want({ first, end: first + 30 });
    await settle();
    expect(asked).toEqual([0, 100, 200, 15_000]);
    expect(pages.row(15_029)?.index).toBe(15_029);
  });

  test('only the 40 pages looked at last are kept', async () => {
    const { pages, asked, settle } = makePages(20_000);
    for (let first = 0; first < 4100; first += 100) {
      pages.want({ first, end: first + 10 });
      await settle();
    }
    expect(pages.row(0)).toBeUndefined();
    expect(pages.row(100)?.index).toBe(100);
    pages.want({ first: 0, end: 10 });
    await settle();
    expect(asked.at(-1)).toBe(0);
    expect(pages.row(0)?.index).toBe(0);
  });

  test('a query without rows has a total of 0', async () => {
    const { pages, settle } = makePages(0);
    pages.want({ first: 0, end: 30 });
    await settle();
    expect(pages.total).toBe(0);
    expect(pages.row(0)).toBeUndefined();
  });

  test('a page that fails is told, and fetched when it is wanted again', async () => {
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
