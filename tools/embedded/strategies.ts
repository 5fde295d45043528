import {
  makeDemonstration,
  makeSummary,
  type Post,
  type SummaryKind,
} from '../../src/embedded/world/index.ts';
import type { RandomStream } from '../../src/engine/random/index.ts';

/** A way to answer a post. */
export interface Strategy {
  readonly name: string;
  readonly write: (post: Post, random: RandomStream) => string;
  /** Whether its answers stop by themselves. */
  readonly finished: boolean;
}

const kinds: readonly SummaryKind[] = [
  'good',
  'rambling',
  'verbose',
  'missing',
  'sparse',
  'invented',
];

/** Answers of each quality, for comparison. */
export const references: readonly Strategy[] = [
  ...kinds.map(
    (kind): Strategy => ({
      name: kind,
      write: (post, random) => makeSummary(post, { kind, random }),
      finished: true,
    }),
  ),
  { name: 'mix', write: (post, random) => makeDemonstration(post, { random }), finished: true },
];

const wording = ({ facts }: Post) => facts.map((fact) => fact.wording);
const keySentences = ({ sentences, distractors }: Post) =>
  sentences.filter((sentence) => !distractors.includes(sentence));
const good = (post: Post, random: RandomStream) => makeSummary(post, { kind: 'good', random });

const lazy: Readonly<Record<string, Strategy['write']>> = {
  empty: () => '',
  'full stop': () => '.',
  constant: () => 'My friend lost my phone last week and I lost $40. Should I move out?',
  title: ({ title }) => `${title}.`,
  'first sentence': ({ sentences }) => sentences[0]!,
  'last sentence': ({ sentences }) => sentences.at(-1)!,
  'two sentences': ({ sentences }) => sentences.slice(0, 2).join(' '),
  'whole post': ({ sentences }) => sentences.join(' '),
  'key sentences': (post) => keySentences(post).join(' '),
  'fact soup': (post) => `${wording(post).join(' ')}.`,
  'fact list': (post) => `${wording(post).join(', ')}.`,
  'facts as sentences': (post) => `${wording(post).join('. ')}.`,
  'good twice': (post, random) => `${good(post, random)} ${good(post, random)}`,
  'good without end': (post, random) => good(post, random).replace(/[.?!]$/, ''),
};

/** What a policy could try instead of summarising. */
export const shortcuts: readonly Strategy[] = [
  ...Object.entries(lazy).map(([name, write]) => ({ name, write, finished: true })),
  { name: 'good, never stops', write: good, finished: false },
];
