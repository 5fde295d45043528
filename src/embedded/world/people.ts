import type { RandomStream } from '../../engine/random/index.ts';
import { choose, happens } from './choose.ts';
import { type Gender, namesByGender, relations, relationsByGender } from './values.ts';

/** Someone in a post. */
export interface Person {
  readonly relation: string;
  readonly gender: Gender;
  /** Not every post gives it. */
  readonly name: string | undefined;
}

const nameProbability = 0.6;

/** Draws someone of one of the relations, who shares nothing with those who are there already. */
export function drawPerson(
  random: RandomStream,
  { among = relations.map(({ forms }) => forms[0]!), besides = [] }: PersonOptions = {},
): Person {
  const isFree = (relation: string) => besides.every((one) => one.relation !== relation);
  const relation = choose(among.filter(isFree), random);
  const gender = genderOf(relation) ?? choose(['female', 'male'] as const, random);
  const isNew = (name: string) => besides.every((one) => one.name !== name);
  const name = choose(namesByGender[gender].filter(isNew), random);
  return { relation, gender, name: happens(nameProbability, random) ? name : undefined };
}

interface PersonOptions {
  readonly among?: readonly string[];
  readonly besides?: readonly Person[];
}

function genderOf(relation: string): Gender | undefined {
  return (['female', 'male'] as const).find((gender) =>
    relationsByGender[gender].includes(relation),
  );
}

/** @example { relation: 'sister', name: 'Anna' }  →  'my sister Anna' */
export function nameInFull({ relation, name }: Person): string {
  return name === undefined ? `my ${relation}` : `my ${relation} ${name}`;
}

/** A pronoun and a short name for someone who was named in full before.
 *  @example { relation: 'sister', gender: 'female', name: 'Anna' }  →  ['she', 'Anna'] */
export function shortNames({ relation, gender, name }: Person): readonly [string, string] {
  const pronoun = gender === 'female' ? 'she' : 'he';
  return [pronoun, name ?? `my ${relation}`];
}
