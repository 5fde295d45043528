/** What a phrase expresses. */
export type PhraseType =
  | 'relation'
  | 'name'
  | 'event'
  | 'time'
  | 'amount'
  | 'duration'
  | 'decision';

/** Something that the world can mention, and the ways to say it; the first form identifies it. */
export interface Phrase {
  readonly type: PhraseType;
  readonly forms: readonly string[];
}

/** A unique key of a phrase, which survives JSON.
 *  @example { type: 'time', forms: ['last Monday', 'on Monday'] }  →  'time:last Monday' */
export function keyOf({ type, forms }: Phrase): string {
  return `${type}:${forms[0]}`;
}

/** Phrases of one type, each a line of forms separated by `|`.
 *  @example makePhrases('event', ['yelled at me|shouted at me'])  →  one event with two forms */
export function makePhrases(type: PhraseType, lines: readonly string[]): readonly Phrase[] {
  return lines.map((line) => ({ type, forms: line.split('|') }));
}

export type Gender = 'female' | 'male';

export const relationsByGender: Readonly<Record<Gender | 'either', readonly string[]>> = {
  female: ['girlfriend', 'wife', 'sister', 'mother', 'aunt'],
  male: ['boyfriend', 'husband', 'brother', 'father', 'uncle'],
  either: [
    'roommate',
    'cousin',
    'friend',
    'neighbor',
    'landlord',
    'boss',
    'manager',
    'coworker',
    'teacher',
    'classmate',
  ],
};

export const namesByGender: Readonly<Record<Gender, readonly string[]>> = {
  female: ['Anna', 'Emma', 'Lisa', 'Mary', 'Julia', 'Sara', 'Kate', 'Nina'],
  male: ['Tom', 'Ben', 'Paul', 'Eric', 'David', 'Adam', 'Peter', 'Jack'],
};

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const months = ['March', 'May', 'July', 'October'];
const counts = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

const countOf = (units: readonly string[], ending = '') =>
  counts.flatMap((count) => units.map((unit) => `${count} ${unit}${ending}`));

export const relations: readonly Phrase[] = makePhrases(
  'relation',
  Object.values(relationsByGender).flat(),
);

export const names: readonly Phrase[] = makePhrases('name', Object.values(namesByGender).flat());

export const times: readonly Phrase[] = makePhrases('time', [
  'yesterday',
  'last night',
  'last week',
  'last month',
  'last summer',
  'this morning',
  ...weekdays.map((day) => `last ${day}|on ${day}`),
  ...months.map((month) => `in ${month}|last ${month}`),
  ...countOf(['days', 'weeks', 'months'], ' ago'),
]);

export const durations: readonly Phrase[] = makePhrases(
  'duration',
  countOf(['weeks', 'months', 'years']),
);

/** $20 to $99. */
export const amounts: readonly Phrase[] = makePhrases(
  'amount',
  Array.from({ length: 80 }, (_, i) => `$${20 + i}`),
);
