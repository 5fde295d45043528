import { makePhrases, type Phrase } from './phrase.ts';

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
