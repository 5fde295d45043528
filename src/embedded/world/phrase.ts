/** What a phrase tells. */
export type PhraseType =
  | 'relation'
  | 'name'
  | 'event'
  | 'time'
  | 'amount'
  | 'duration'
  | 'decision';

/** Something the world can speak of, and the ways to say it; the first way identifies it. */
export interface Phrase {
  readonly type: PhraseType;
  readonly forms: readonly string[];
}

/** Tells phrases apart, also after they went through JSON.
 *  @example { type: 'time', forms: ['last Monday', 'on Monday'] }  →  'time:last Monday' */
export function keyOf({ type, forms }: Phrase): string {
  return `${type}:${forms[0]}`;
}

/** Phrases of one type, each given by its forms separated by `|`.
 *  @example makePhrases('event', ['yelled at me|shouted at me'])  →  one event with two forms */
export function makePhrases(type: PhraseType, lines: readonly string[]): readonly Phrase[] {
  return lines.map((line) => ({ type, forms: line.split('|') }));
}
