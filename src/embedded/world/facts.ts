import type { RandomStream } from '../../engine/random/index.ts';
import {
  amounts,
  durations,
  type Gender,
  names,
  namesByGender,
  type Phrase,
  relations,
  relationsByGender,
  times,
} from './phrases.ts';
import type { Scenario } from './scenario.ts';
import type { Slots } from './templates.ts';

/** What a summary should contain, in the order of `Post.facts`. */
export const factKinds = ['who', 'event', 'when', 'measure', 'decision'] as const;
export type FactKind = (typeof factKinds)[number];

/** A fact that a summary should contain. */
export interface Fact {
  readonly kind: FactKind;
  /** The post's wording. */
  readonly wording: string;
  /** Any of these expresses it: `who` is expressed by the relation or the name. */
  readonly phrases: readonly Phrase[];
}

/** A post of the small world, with its facts. */
export interface Post {
  /** The prompt: the whole post up to and including `TL;DR:`. */
  readonly text: string;
  readonly title: string;
  /** The subreddit, without `r/`. */
  readonly scenario: string;
  /** The key facts, one per kind. */
  readonly facts: readonly Fact[];
  /** The sentences of the body. */
  readonly sentences: readonly string[];
  /** The sentences that no summary needs. */
  readonly distractors: readonly string[];
}

/** The person that a post is about, and its key facts. */
export interface Trouble {
  readonly person: Person;
  readonly facts: readonly Fact[];
}

/** Samples the key facts of a post. */
export function sampleFacts(scenario: Scenario, random: RandomStream): Trouble {
  const person = samplePerson(random, { among: scenario.relations });
  const who = [...relations, ...names].filter(
    ({ forms }) => forms[0] === person.relation || forms[0] === person.name,
  );
  const sampleFact = (kind: FactKind, among: readonly Phrase[]): Fact => {
    const phrase = choose(among, random);
    return { kind, wording: choose(phrase.forms, random), phrases: [phrase] };
  };
  const facts = [
    { kind: 'who', wording: nameInFull(person), phrases: who } as const,
    sampleFact('event', scenario.events),
    sampleFact('when', times),
    sampleFact('measure', scenario.measure.type === 'amount' ? amounts : durations),
    sampleFact('decision', scenario.decisions),
  ];
  return { person, facts };
}

/** Samples another person and facts about them, none of which is a key fact. */
export function sampleOther(
  {
    facts,
    others,
    scenario,
  }: { facts: readonly Fact[]; others: readonly Person[]; scenario: Scenario },
  random: RandomStream,
): { readonly person: Person; readonly slots: Slots } {
  const person = samplePerson(random, { besides: others });
  const isKey = (phrase: Phrase) => facts.some(({ phrases }) => phrases.includes(phrase));
  const sample = (among: readonly Phrase[]) =>
    choose(
      choose(
        among.filter((phrase) => !isKey(phrase)),
        random,
      ).forms,
      random,
    );
  const slots = {
    other: nameInFull(person),
    otherDecision: sample(scenario.decisions),
    otherTime: sample(times),
    otherAmount: sample(amounts),
    otherDuration: sample(durations),
  };
  return { person, slots };
}

/** Someone in a post. */
export interface Person {
  readonly relation: string;
  readonly gender: Gender;
  /** Not every post mentions it. */
  readonly name: string | undefined;
}

const nameProbability = 0.6;

/** Samples a person with one of the relations, who shares neither relation nor name with `besides`. */
export function samplePerson(
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

/** A pronoun and a short name for someone who was already introduced.
 *  @example { relation: 'sister', gender: 'female', name: 'Anna' }  →  ['she', 'Anna'] */
export function shortNames({ relation, gender, name }: Person): readonly [string, string] {
  const pronoun = gender === 'female' ? 'she' : 'he';
  return [pronoun, name ?? `my ${relation}`];
}

/** Picks one of the items uniformly at random. */
export function choose<T>(items: readonly T[], random: RandomStream): T {
  return items[random.integer(items.length)]!;
}

/** True with the given probability. */
export function happens(probability: number, random: RandomStream): boolean {
  return random.next() < probability;
}
