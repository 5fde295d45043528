import type { LabelChoice } from '../api.ts';
import type { StoredTask } from './queue-schema.ts';

/** A row as `proximal reward` reads it; undefined where nothing is preferred, as both are bad.
 *  @example pair A, B: choice 1  →  { prompt, chosen: B, rejected: A }
 *  @example a tie  →  { prompt, chosen: A, rejected: B, label: 'tie' }
 *  @example ranking [2, 0, 1]  →  { prompt, completions: [A, B, C], ranking: [2, 0, 1] } */
export function exportRow(
  { prompt, responses }: Pick<StoredTask, 'prompt' | 'responses'>,
  answer: LabelChoice,
): object | undefined {
  const texts = responses.map(({ text }) => text);
  const [first, second] = texts;
  if (answer.kind === 'rating') return { prompt, completion: first, rating: answer.rating };
  if (answer.kind === 'ranking') return { prompt, completions: texts, ranking: answer.order };
  switch (answer.choice) {
    case 'both-bad':
      return undefined;
    case 'tie':
      return { prompt, chosen: first, rejected: second, label: 'tie' };
    case 0:
      return { prompt, chosen: first, rejected: second };
    case 1:
      return { prompt, chosen: second, rejected: first };
  }
}

/** Rows as JSON Lines. */
export function toJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
