import type { TokenColumns } from '../../api.ts';

/** A token that could have been chosen at some place. */
export interface AlternativeRow {
  readonly id: number;
  readonly text: string;
  readonly logprob: number;
  readonly isChosen: boolean;
}

/** The likeliest tokens at place t, and the chosen one after them where it is not among them.
 *  @example alternatives 7 and 8, chosen 5  →  7, 8, 5 (chosen) */
export function alternativeRows(columns: TokenColumns, t: number): AlternativeRow[] {
  const chosen = {
    id: columns.ids[t]!,
    text: columns.texts[t] ?? '',
    logprob: columns.logprobs[t]!,
    isChosen: true,
  };
  const { ids, texts, logprobs } = columns.alternatives[t] ?? { ids: [], texts: [], logprobs: [] };
  const rows = ids.map((id, i) => ({
    id,
    text: texts[i] ?? '',
    logprob: logprobs[i] ?? Number.NaN,
    isChosen: id === chosen.id,
  }));
  return rows.some(({ isChosen }) => isChosen) ? rows : [...rows, chosen];
}
