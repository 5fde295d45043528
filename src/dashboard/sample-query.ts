import type { SamplePage, SampleQuery, SampleRow } from './api.ts';

/** The rows of a page where the query does not say. */
const defaultLimit = 100;

/** The rows that a query finds, in its order, cut to its page; rows of equal rank stay in the file's
 *  order, and those without the number that is sorted by come last.
 *  @example scores [1, null, 3], sort 'score', order 'desc', limit 2  →  total 3, scores [3, 1] */
export function querySamples(rows: readonly SampleRow[], query: SampleQuery): SamplePage {
  const found = rows.filter(matcher(query));
  const { sort, order = 'asc', offset = 0, limit = defaultLimit } = query;
  if (sort !== undefined) found.sort((a, b) => compare(a[sort], b[sort], order));
  else if (order === 'desc') found.reverse();
  return { total: found.length, rows: found.slice(offset, offset + limit) };
}

/** A query as the search part of a URL, without what it leaves open.
 *  @example { search: 'a b', limit: 50 }  →  'search=a+b&limit=50' */
export function formatSampleQuery(query: SampleQuery): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.set(name, String(value));
  }
  return params.toString();
}

function matcher(query: SampleQuery): (row: SampleRow) => boolean {
  const { promptIdx, fromStep, toStep, minScore, maxScore } = query;
  const part = query.search?.toLowerCase() ?? '';
  return (row) =>
    (promptIdx === undefined || row.promptIdx === promptIdx) &&
    isWithin(row.step, fromStep, toStep) &&
    isWithin(row.score, minScore, maxScore) &&
    (part === '' ||
      row.prompt.toLowerCase().includes(part) ||
      row.response.toLowerCase().includes(part));
}

/** Whether a number lies between limits that may be open; no number lies within any limit. */
function isWithin(value: number | null, low = -Infinity, high = Infinity): boolean {
  if (low === -Infinity && high === Infinity) return true;
  return value !== null && value >= low && value <= high;
}

function compare(a: number | null, b: number | null, order: 'asc' | 'desc'): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return order === 'asc' ? a - b : b - a;
}
