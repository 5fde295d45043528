import { type DataRow, kindOf } from './data-row.ts';
import { hasColumn, readNumber, rowFault } from './line-columns.ts';

/** Probability that the chosen completion is better: 1 without a label, ½ for a tie.
 *  @example 'tie'  →  ½;  'chosen'  →  1;  0.8  →  0.8 */
export function readLabel(row: DataRow, column: string): number {
  const value = row.columns[column];
  if (!hasColumn(row, column) || value === '' || value === 'chosen') return 1;
  if (value === 'tie') return 0.5;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && number >= 0 && number <= 1) return number;
  const got = typeof value === 'object' ? kindOf(value) : JSON.stringify(value);
  throw rowFault(row, {
    reason: 'out-of-range',
    fault: `"${column}" must be "chosen", "tie" or a probability from 0 to 1, got ${got}; set labelColumn if it means something else`,
  });
}

/** How much better the chosen completion is; 0 where nothing is said, and for a tie. */
export function readMargin(
  row: DataRow,
  { column, target }: { readonly column: string; readonly target: number },
): number {
  const margin = readNumber(row, column) ?? 0;
  if (margin === 0 || (margin > 0 && target !== 0.5)) return margin;
  const rule = target === 0.5 ? 'must be 0 in a tie' : 'must be ≥ 0';
  throw rowFault(row, { reason: 'out-of-range', fault: `"${column}" ${rule}, got ${margin}` });
}

/** The place of the best of some completions. */
export function readBest(
  row: DataRow,
  { column, count }: { readonly column: string; readonly count: number },
): number {
  const best = readNumber(row, column);
  if (best !== undefined && Number.isInteger(best) && best >= 0 && best < count) return best;
  throw rowFault(row, {
    reason: 'out-of-range',
    fault: `"${column}" must be the place of a completion, 0 to ${count - 1}, got ${best ?? 'nothing'}`,
  });
}

/** The places of completions from best to worst, each rank a list.
 *  @example [2, [0, 1]]  →  [[2], [0, 1]] */
export function readRanking(
  row: DataRow,
  { column, count }: { readonly column: string; readonly count: number },
): readonly (readonly number[])[] {
  const value = row.columns[column];
  const ranks: unknown[][] = Array.isArray(value)
    ? value.map((entry) => (Array.isArray(entry) ? entry : [entry]))
    : [];
  const places = new Set(ranks.flat());
  const isWhole = Array.from({ length: count }, (_, i) => i).every((i) => places.has(i));
  if (isWhole && ranks.flat().length === count) return ranks as number[][];
  throw rowFault(row, {
    reason: 'out-of-range',
    fault: `"${column}" must list the places of all ${count} completions from best to worst, 0 to ${count - 1}, each once, got ${JSON.stringify(value)}`,
  });
}
