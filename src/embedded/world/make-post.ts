import { type RandomStream, randomStream } from '../../engine/random/index.ts';
import { choose, happens } from './choose.ts';
import { drawFacts, drawOther, type Trouble } from './draw-facts.ts';
import { fillTemplate, type Slots } from './fill-template.ts';
import { nameInFull, type Person, shortNames } from './people.ts';
import type { Fact, Post } from './post.ts';
import * as templates from './post-templates.ts';
import { type Scenario, scenarios } from './scenario.ts';

/** A sentence before its {who} and {she} are known, which depend on the sentences before it. */
interface Draft {
  readonly template: string;
  readonly slots: Slots;
  readonly about: 'trouble' | 'other' | 'nothing';
}

/** Makes a post: the key facts in some order among sentences that no summary needs. The same seed
 *  and index give the same post forever.
 *  @example makePost(0, 3).text  →  'SUBREDDIT: r/…\nTITLE: …\nPOST: …\nTL;DR:' */
export function makePost(seed: number, index: number): Post {
  const random = randomStream(seed, 'world post', index);
  const scenario = choose(scenarios, random);
  const trouble = drawFacts(scenario, random);
  const { person, facts } = trouble;
  const slots = { ...slotsOf(facts), relation: person.relation };
  const title = fillTemplate(choose(templates.titles, random), slots);
  const drafts = draftTrouble({ scenario, slots }, random);
  for (const draft of draftDistractors({ scenario, trouble }, random)) {
    drafts.splice(random.integer(drafts.length + 1), 0, draft);
  }
  const sentences = tell(drafts, { person, random });
  const distractors = sentences.filter((_, i) => drafts[i]!.about !== 'trouble');
  const head = `SUBREDDIT: r/${scenario.subreddit}\nTITLE: ${title}`;
  const text = `${head}\nPOST: ${sentences.join(' ')}\nTL;DR:`;
  return { text, title, scenario: scenario.subreddit, facts, sentences, distractors };
}

/** The facts as they are told, by kind. */
export function slotsOf(facts: readonly Fact[]): Slots {
  return Object.fromEntries(facts.map(({ kind, told }) => [kind, told]));
}

/** The key facts: who and what first, the others in any order after them or the decision before. */
function draftTrouble(
  { scenario, slots }: { scenario: Scenario; slots: Slots },
  random: RandomStream,
): Draft[] {
  const draft = (among: readonly string[]): Draft => ({
    template: choose(among, random),
    slots,
    about: 'trouble',
  });
  const isDated = happens(0.5, random);
  const introduction = happens(0.5, random) ? [draft(templates.introductions)] : [];
  const event = draft(isDated ? templates.datedEvents : templates.events);
  const date = isDated ? [] : [draft(templates.dates)];
  const measure = draft(scenario.measure.sentences);
  const decision = draft(templates.decisions);
  return happens(0.25, random)
    ? [decision, ...introduction, event, ...random.shuffle([...date, measure])]
    : [...introduction, event, ...random.shuffle([...date, measure, decision])];
}

/** One or two facts about others and one or two sentences of small talk. */
function draftDistractors(
  { scenario, trouble }: { scenario: Scenario; trouble: Trouble },
  random: RandomStream,
): Draft[] {
  const { person, facts } = trouble;
  const others: Person[] = [person];
  const factual = random.shuffle(templates.otherFacts).slice(0, 1 + random.integer(2));
  const idle = random.shuffle(templates.smallTalk).slice(0, 1 + random.integer(2));
  const drafts = factual.map((template): Draft => {
    const other = drawOther({ facts, others, scenario }, random);
    others.push(other.person);
    return { template, slots: other.slots, about: 'other' };
  });
  return [...drafts, ...idle.map((template): Draft => ({ template, slots: {}, about: 'nothing' }))];
}

/** Fills the drafts in; a pronoun never follows a sentence about someone else. */
function tell(
  drafts: readonly Draft[],
  { person, random }: { person: Person; random: RandomStream },
): string[] {
  let isKnown = false;
  const [pronoun, short] = shortNames(person);
  return drafts.map(({ template, slots }, i) => {
    const mayUsePronoun = drafts[i - 1]?.about !== 'other' && happens(0.5, random);
    const she = mayUsePronoun ? pronoun : short;
    const filled = fillTemplate(template, { ...slots, she: isKnown ? she : nameInFull(person) });
    isKnown ||= /\{(who|she)\}/.test(template);
    return filled;
  });
}
