import type { RandomStream } from '../../engine/random/index.ts';
import { choose, type FactKind, factKinds, happens, type Post } from './facts.ts';
import { slotsOf } from './make-post.ts';
import { keyOf, type Phrase, type PhraseType } from './phrases.ts';
import { lexicon, readPieces } from './read-pieces.ts';
import { type Scenario, scenarios } from './scenario.ts';
import * as templates from './templates.ts';
import { fillTemplate, type Slots } from './templates.ts';

/** The quality of a summary: all facts in few words; all facts with one or two (`rambling`) or two or
 *  three (`verbose`) unnecessary sentences; one to three (`missing`) or two to three (`sparse`) facts
 *  missing; one or two facts wrong. */
export type SummaryKind = 'good' | 'rambling' | 'verbose' | 'missing' | 'sparse' | 'invented';

export interface SummaryOptions {
  readonly kind: SummaryKind;
  readonly random: RandomStream;
}

/** Writes a summary of a post; a model's response is a space followed by the summary.
 *  @example good  →  'My sister Anna broke my phone last Friday and I lost $40. Should I move out?' */
export function makeSummary(post: Post, { kind, random }: SummaryOptions): string {
  return writers[kind](post, random);
}

/** How often each kind of summary occurs. */
export type SummaryMix = Readonly<Partial<Record<SummaryKind, number>>>;

/** The demonstrations: an SFT model that imitates them gets facts right but does not know which ones
 *  matter, nor when to stop. */
const demonstrationMix: SummaryMix = { good: 0.1, verbose: 0.5, sparse: 0.4 };

/** A summary for SFT, of a kind sampled from the mix. */
export function makeDemonstration(
  post: Post,
  { random, mix = demonstrationMix }: { random: RandomStream; mix?: SummaryMix },
): string {
  const entries = Object.entries(mix) as [SummaryKind, number][];
  let rest = random.next() * entries.reduce((sum, [, share]) => sum + share, 0);
  const sampled = entries.find(([, share]) => {
    rest -= share;
    return rest < 0;
  });
  const [kind] = sampled ?? entries.at(-1)!;
  return makeSummary(post, { kind, random });
}

const writers: Readonly<Record<SummaryKind, (post: Post, random: RandomStream) => string>> = {
  good: (post, random) => writeSentences(post, { slots: slotsOf(post.facts), random }).join(' '),
  rambling: (post, random) => ramble(post, { random, least: 1 }),
  verbose: (post, random) => ramble(post, { random, least: 2 }),
  missing: (post, random) => {
    const dropped = random.shuffle(factKinds).slice(0, 1 + random.integer(3));
    return omitFacts(post, { dropped, random });
  },
  sparse: (post, random) => {
    const dropped = random.shuffle(factKinds).slice(0, 2 + random.integer(2));
    return omitFacts(post, { dropped, random });
  },
  invented: (post, random) => {
    const wrong = random.shuffle(factKinds).slice(0, 1 + random.integer(2));
    const slots: Record<string, string> = { ...slotsOf(post.facts) };
    for (const kind of wrong) slots[kind] = inventFact(post, { kind, random });
    return writeSentences(post, { slots, random }).join(' ');
  },
};

function omitFacts(
  post: Post,
  { dropped, random }: { dropped: readonly FactKind[]; random: RandomStream },
): string {
  const remaining = post.facts.filter(({ kind }) => !dropped.includes(kind));
  return writeSentences(post, { slots: slotsOf(remaining), random }).join(' ');
}

/** Adds `least` unnecessary sentences after the first, or one more. */
function ramble(post: Post, { random, least }: { random: RandomStream; least: number }): string {
  const slots = slotsOf(post.facts);
  const fillers = templates.fillers.map((template) => fillTemplate(template, slots));
  const [first, ...rest] = writeSentences(post, { slots, random });
  const count = least + Number(happens(0.4, random));
  const more = random.shuffle([...fillers, ...post.distractors]).slice(0, count);
  return [first, ...random.shuffle([...rest, ...more])].join(' ');
}

/** One sentence about the event and one about the decision, in either order; facts that are not in
 *  the slots are omitted. */
function writeSentences(
  post: Post,
  { slots, random }: { slots: Slots; random: RandomStream },
): [string, ...string[]] {
  const { who = templates.someone, when = '', measure, event, decision } = slots;
  const { clauses } = scenarioOf(post).measure;
  const clause =
    measure === undefined ? '' : choose(clauses, random).replace('{measure}', () => measure);
  const tellings = event === undefined ? templates.vagueTellings : templates.tellings;
  const asks = decision === undefined ? templates.vagueAsks : templates.asks;
  const telling = fillTemplate(choose(tellings, random), { ...slots, who, when, clause });
  const ask = fillTemplate(choose(asks, random), slots);
  return happens(0.25, random) ? [ask, telling] : [telling, ask];
}

/** A wrong value of the same kind; half of the time one that the post mentions about someone else. */
function inventFact(
  post: Post,
  { kind, random }: { kind: FactKind; random: RandomStream },
): string {
  const { phrases } = post.facts.find((fact) => fact.kind === kind)!;
  const isKey = new Set(phrases.map(keyOf));
  const options = candidates(scenarioOf(post), kind).filter((one) => !isKey.has(keyOf(one)));
  const mentioned = readPieces(post.distractors.join(' ')).map(
    ({ phrase }) => phrase && keyOf(phrase),
  );
  const near = options.filter((one) => mentioned.includes(keyOf(one)));
  const phrase = choose(near.length > 0 && happens(0.5, random) ? near : options, random);
  return kind === 'who' ? `my ${phrase.forms[0]}` : phrase.forms[0]!;
}

/** The possible values of a kind of fact. */
function candidates({ events, decisions, measure }: Scenario, kind: FactKind): readonly Phrase[] {
  if (kind === 'event') return events;
  if (kind === 'decision') return decisions;
  const types: Record<typeof kind, PhraseType> = {
    who: 'relation',
    when: 'time',
    measure: measure.type,
  };
  return lexicon[types[kind]];
}

function scenarioOf({ scenario }: Post): Scenario {
  return scenarios.find(({ subreddit }) => subreddit === scenario)!;
}
