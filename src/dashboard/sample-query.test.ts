import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SampleQuery, SampleRow } from './api.ts';
import { formatSampleQuery, querySamples } from './sample-query.ts';

const row = (index: number, fields: Partial<SampleRow> = {}): SampleRow => ({
  index,
  step: index,
  promptIdx: 0,
  sample: 0,
  prompt: `prompt ${index}`,
  response: `response ${index}`,
  score: index,
  sourceScores: null,
  kl: 0,
  length: 4,
  finished: true,
  turns: null,
  hasTokens: false,
  ...fields,
});

const indices = (rows: readonly SampleRow[]) => rows.map(({ index }) => index);

describe('querySamples()', () => {
  test('finds the tools that were called, and the kinds of their errors', () => {
    const turn = (tool: string, error?: string) => ({
      ...{ text: '', answers: [] },
      calls: [{ tool, output: '', seconds: 0, ...(error !== undefined && { error }) }],
    });
    const rows = [
      row(0),
      row(1, { turns: [turn('add'), turn('search', 'timeout')] }),
      row(2, { turns: [turn('search')] }),
      row(3, { turns: [turn('add', 'invalid_input')] }),
    ];
    const find = (query: SampleQuery) => indices(querySamples(rows, query).rows);
    expect(find({ tool: 'add' })).toEqual([1, 3]);
    expect(find({ tool: 'ad' })).toEqual([]);
    expect(find({ toolError: 'any' })).toEqual([1, 3]);
    expect(find({ toolError: 'timeout' })).toEqual([1]);
    expect(find({ tool: 'search', toolError: 'timeout' })).toEqual([1]);
  });

  test('sorts by score with missing scores last, in either order', () => {
    const rows = [row(0, { score: 1 }), row(1, { score: null }), row(2, { score: 3 })];
    const page = querySamples(rows, { sort: 'score', order: 'desc', limit: 2 });
    expect(page.total).toBe(3);
    expect(indices(page.rows)).toEqual([2, 0]);
    expect(indices(querySamples(rows, { sort: 'score' }).rows)).toEqual([0, 2, 1]);
  });

  test('finds text in prompt or response, ignoring case', () => {
    const rows = [row(0, { prompt: 'A Cat' }), row(1, { response: 'the CAT' }), row(2)];
    expect(indices(querySamples(rows, { search: 'cat' }).rows)).toEqual([0, 1]);
    expect(querySamples(rows, { search: 'dog' })).toEqual({ total: 0, rows: [] });
  });

  test('limits are inclusive, and a missing score is within none', () => {
    const rows = [row(0), row(1), row(2), row(3, { score: null })];
    expect(indices(querySamples(rows, { fromStep: 1, toStep: 2 }).rows)).toEqual([1, 2]);
    expect(indices(querySamples(rows, { minScore: 1 }).rows)).toEqual([1, 2]);
    expect(indices(querySamples(rows, { maxScore: 0 }).rows)).toEqual([0]);
    expect(indices(querySamples(rows, { promptIdx: 1 }).rows)).toEqual([]);
  });

  test('an order without a sort reverses the rows', () => {
    expect(indices(querySamples([row(0), row(1)], { order: 'desc' }).rows)).toEqual([1, 0]);
  });

  test('pages together contain all rows', () => {
    const rows = fc.array(fc.option(fc.integer({ min: 0, max: 3 })), { maxLength: 30 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 7 }), (scores, limit) => {
        const all = scores.map((score, index) => row(index, { score }));
        const pages = Array.from({ length: Math.ceil(all.length / limit) }, (_, page) =>
          indices(querySamples(all, { sort: 'score', offset: page * limit, limit }).rows),
        );
        expect(pages.flat()).toEqual(indices(querySamples(all, { sort: 'score', limit: 99 }).rows));
        expect(pages.flat().toSorted((a, b) => a - b)).toEqual(indices(all));
      }),
    );
  });
});

describe('formatSampleQuery()', () => {
  test('leaves out undefined fields', () => {
    expect(formatSampleQuery({ search: 'a b', limit: 50 })).toBe('search=a+b&limit=50');
    expect(formatSampleQuery({})).toBe('');
  });
});
