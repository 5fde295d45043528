import { type RandomStream, randomStream } from '../../engine/random/index.ts';
import {
  choose,
  type Fact,
  happens,
  nameInFull,
  type Person,
  type Post,
  sampleFacts,
  sampleOther,
  shortNames,
  type Trouble,
} from './facts.ts';
import { type Scenario, scenarios } from './scenario.ts';
import * as templates from './templates.ts';
import { fillTemplate, type Slots } from './templates.ts';

/** A sentence whose {who} and {she} are still open, because they depend on earlier sentences. */
interface Draft {
  readonly template: string;
  readonly slots: Slots;
  readonly about: 'trouble' | 'other' | 'nothing';
}

/** Generates a post: the key facts in some order, mixed with sentences that no summary needs. The same
 *  seed and index always return the same post.
 *  @example makePost(0, 3).text  →  'SUBREDDIT: r/…\nTITLE: …\nPOST: …\nTL;DR:' */
export function makePost(seed: number, index: number): Post {
  const random = randomStream(seed, 'world post', index);
  const scenario = choose(scenarios, random);
  const trouble = sampleFacts(scenario, random);
  const { person, facts } = trouble;
  const slots = { ...slotsOf(facts), relation: person.relation };
  const title = fillTemplate(choose(templates.titles, random), slots);
  const drafts = draftTrouble({ scenario, slots }, random);
  for (const draft of draftDistractors({ scenario, trouble }, random)) {
    drafts.splice(random.integer(drafts.length + 1), 0, draft);
  }
  const sentences = writeDrafts(drafts, { person, random });
  const distractors = sentences.filter((_, i) => drafts[i]!.about !== 'trouble');
  const head = `SUBREDDIT: r/${scenario.subreddit}\nTITLE: ${title}`;
  const text = `${head}\nPOST: ${sentences.join(' ')}\nTL;DR:`;
  return { text, title, scenario: scenario.subreddit, facts, sentences, distractors };
}

/** The facts in the post's words, by kind. */
export function slotsOf(facts: readonly Fact[]): Slots {
  return Object.fromEntries(facts.map(({ kind, wording }) => [kind, wording]));
}

/** The key facts: who and what first, then the others in any order; the decision may come first. */
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
    const other = sampleOther({ facts, others, scenario }, random);
    others.push(other.person);
    return { template, slots: other.slots, about: 'other' };
  });
  return [...drafts, ...idle.map((template): Draft => ({ template, slots: {}, about: 'nothing' }))];
}

/** Fills in the drafts; a pronoun never follows a sentence about someone else. */
function writeDrafts(
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

/** What posts are used for; no post is in two splits. */
export const splits = ['pretraining', 'sft', 'preferences', 'ppo', 'validation'] as const;
export type Split = (typeof splits)[number];

/** Posts per split. */
export const splitSize = 1_000_000;

/** Generates post `number` of a split, from 0 to 999,999.
 *  @example post 7 of 'sft'  →  makePost(seed, 1_000_007) */
export function makeSplitPost(
  split: Split,
  { seed, number }: { readonly seed: number; readonly number: number },
): Post {
  if (!Number.isInteger(number) || number < 0 || number >= splitSize) {
    throw new RangeError(
      `Cannot generate a post of "${split}": its number must be a whole number from 0 to ${splitSize - 1}, got ${number}`,
    );
  }
  return makePost(seed, splits.indexOf(split) * splitSize + number);
}
