import { fillTemplate, type Slots } from './fill-template.ts';
import * as post from './post-templates.ts';
import { readPieces } from './read-pieces.ts';
import { scenarios } from './scenario.ts';
import * as summary from './summary-templates.ts';

/** One phrase of each type stands for all of them. */
const facts = {
  event: 'yelled at me',
  when: 'last week',
  decision: 'move out',
  otherDecision: 'move out',
  otherTime: 'last week',
  otherAmount: '$30',
  otherDuration: 'two weeks',
};

/** The ways to speak of people. */
const subjects: readonly Slots[] = [
  'my sister Anna',
  'my sister',
  'Anna',
  'she',
  'he',
  summary.someone,
].map((name) => ({ who: name, she: name, other: name }));

const known = collect();

/** Whether the symbols stand side by side in some sentence of the world; `^` starts a sentence. */
export function isKnownPair(left: string, right: string): boolean {
  return known.pairs.has(`${left} ${right}`);
}

/** Whether the world's own sentences use a word. */
export function isKnownWord(symbol: string): boolean {
  return known.symbols.has(symbol);
}

/** Neighbours in a text, sentence by sentence.
 *  @example symbols `i`, `may`, `<decision>`, `.`  →  [^, i], [i, may], [may, <decision>], [<decision>, .] */
export function pairsOf(symbols: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  let left = '^';
  for (const right of symbols) {
    pairs.push([left, right]);
    left = /^[.?!]$/.test(right) ? '^' : right;
  }
  return pairs;
}

function collect() {
  const pairs = new Set<string>();
  const symbols = new Set<string>();
  for (const sentence of listSentences()) {
    const read = readPieces(sentence).map(({ symbol }) => symbol);
    for (const symbol of read) symbols.add(symbol);
    for (const [left, right] of pairsOf(read)) pairs.add(`${left} ${right}`);
  }
  return { pairs, symbols };
}

/** Every sentence of posts and summaries, each way to speak of people and each part that may be
 *  left out tried. */
function listSentences(): string[] {
  const { introductions, datedEvents, events, dates, decisions, otherFacts, smallTalk } = post;
  const told = [introductions, datedEvents, events, dates, decisions, otherFacts, smallTalk].flat();
  const { tellings, vagueTellings, asks, vagueAsks, fillers } = summary;
  const open = [...tellings, ...vagueTellings];
  const ofScenarios = scenarios.flatMap(({ measure }) => {
    const slots = { ...facts, measure: measure.type === 'amount' ? '$30' : 'two weeks' };
    const clauses = ['', ...measure.clauses].map((clause) => fillTemplate(clause, slots));
    const variants = subjects.flatMap((subject) =>
      clauses.flatMap((clause) =>
        ['', facts.when].map((when) => ({ ...slots, ...subject, clause, when })),
      ),
    );
    return [
      ...measure.sentences.map((template) => fillTemplate(template, slots)),
      ...variants.flatMap((slots) => open.map((template) => fillTemplate(template, slots))),
    ];
  });
  const rest = [...told, ...asks, ...vagueAsks, ...fillers];
  const ofSubjects = subjects.flatMap((subject) =>
    rest.map((template) => fillTemplate(template, { ...facts, ...subject })),
  );
  return [...new Set([...ofScenarios, ...ofSubjects])];
}
