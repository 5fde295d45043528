import { describeReasons, type RowReport } from '../data/index.ts';

/** What became of rows that are not used, in a sentence each.
 *  @example 2 of 9 rows bad
 *    →  'Left out 2 of 9 rows: 1 too-long, 1 equal-sides; the first: Cannot use a.jsonl line 3: …' */
export function describeBadRows(report: RowReport): string[] {
  const { read, bad, repeated, examples } = report;
  const sentences: string[] = [];
  if (bad > 0) {
    const first = examples[0]!.message;
    sentences.push(
      `Left out ${bad} of ${count(read, 'row')}: ${describeReasons(report)}; the first: ${first}`,
    );
  }
  if (repeated > 0) {
    sentences.push(`Left out ${count(repeated, 'row')} whose prompts are validated on`);
  }
  return sentences;
}

/** @example 1, 'row'  →  '1 row'; 2, 'row'  →  '2 rows' */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
