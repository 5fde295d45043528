import type { RandomStream } from '../../engine/random/index.ts';
import { choose } from './choose.ts';
import type { Slots } from './fill-template.ts';
import { drawPerson, nameInFull, type Person } from './people.ts';
import type { Phrase } from './phrase.ts';
import type { Fact, FactKind } from './post.ts';
import type { Scenario } from './scenario.ts';
import { amounts, durations, names, relations, times } from './values.ts';

/** Who a post is about, and its key facts. */
export interface Trouble {
  readonly person: Person;
  readonly facts: readonly Fact[];
}

/** Draws the key facts of a post. */
export function drawFacts(scenario: Scenario, random: RandomStream): Trouble {
  const person = drawPerson(random, { among: scenario.relations });
  const who = [...relations, ...names].filter(
    ({ forms }) => forms[0] === person.relation || forms[0] === person.name,
  );
  const tell = (kind: FactKind, among: readonly Phrase[]): Fact => {
    const phrase = choose(among, random);
    return { kind, told: choose(phrase.forms, random), phrases: [phrase] };
  };
  const facts = [
    { kind: 'who', told: nameInFull(person), phrases: who } as const,
    tell('event', scenario.events),
    tell('when', times),
    tell('measure', scenario.measure.type === 'amount' ? amounts : durations),
    tell('decision', scenario.decisions),
  ];
  return { person, facts };
}

/** Draws someone else and facts about them, none of which is a key fact. */
export function drawOther(
  {
    facts,
    others,
    scenario,
  }: { facts: readonly Fact[]; others: readonly Person[]; scenario: Scenario },
  random: RandomStream,
): { readonly person: Person; readonly slots: Slots } {
  const person = drawPerson(random, { besides: others });
  const isKey = (phrase: Phrase) => facts.some(({ phrases }) => phrases.includes(phrase));
  const draw = (among: readonly Phrase[]) =>
    choose(
      choose(
        among.filter((phrase) => !isKey(phrase)),
        random,
      ).forms,
      random,
    );
  const slots = {
    other: nameInFull(person),
    otherDecision: draw(scenario.decisions),
    otherTime: draw(times),
    otherAmount: draw(amounts),
    otherDuration: draw(durations),
  };
  return { person, slots };
}
