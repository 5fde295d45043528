import type { SamplePage, SampleQuery, SampleRow } from './api.ts';

/** Default number of rows per page. */
const defaultLimit = 100;

/** The rows that match a query, sorted and limited to a page. Ties keep the order of the file; rows
 *  without the sorted number come last.
 *  @example scores [1, null, 3], sort 'score', order 'desc', limit 2  →  total 3, scores [3, 1] */
export function querySamples(rows: readonly SampleRow[], query: SampleQuery): SamplePage {
  const matching = rows.filter(matcher(query));
  const { sort, order = 'asc', offset = 0, limit = defaultLimit } = query;
  if (sort !== undefined) matching.sort((a, b) => compare(a[sort], b[sort], order));
  else if (order === 'desc') matching.reverse();
  return { total: matching.length, rows: matching.slice(offset, offset + limit) };
}

/** A query as URL parameters, without undefined fields.
 *  @example { search: 'a b', limit: 50 }  →  'search=a+b&limit=50' */
export function formatSampleQuery(query: SampleQuery): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.set(name, String(value));
  }
  return params.toString();
}

function matcher(query: SampleQuery): (row: SampleRow) => boolean {
  const { promptIdx, fromStep, toStep, minScore, maxScore, tool, toolError } = query;
  const part = query.search?.toLowerCase() ?? '';
  return (row) =>
    (promptIdx === undefined || row.promptIdx === promptIdx) &&
    isWithin(row.step, fromStep, toStep) &&
    isWithin(row.score, minScore, maxScore) &&
    (tool === undefined || hasCall(row, (call) => call.tool === tool)) &&
    (toolError === undefined ||
      hasCall(row, ({ error }) =>
        toolError === 'any' ? error !== undefined : error === toolError,
      )) &&
    (part === '' ||
      row.prompt.toLowerCase().includes(part) ||
      row.response.toLowerCase().includes(part));
}

type Call = NonNullable<SampleRow['turns']>[number]['calls'][number];

function hasCall({ turns }: SampleRow, matches: (call: Call) => boolean): boolean {
  return turns?.some(({ calls }) => calls.some(matches)) ?? false;
}

/** Whether a number is between optional limits; a missing number is within none. */
function isWithin(value: number | null, low = -Infinity, high = Infinity): boolean {
  if (low === -Infinity && high === Infinity) return true;
  return value !== null && value >= low && value <= high;
}

function compare(a: number | null, b: number | null, order: 'asc' | 'desc'): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return order === 'asc' ? a - b : b - a;
}
