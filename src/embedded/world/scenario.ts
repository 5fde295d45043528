import { makePhrases, type Phrase } from './phrases.ts';

/** A kind of problem: who can cause it, what happens, what it costs and what can be done. */
export interface Scenario {
  readonly subreddit: string;
  /** Who the post can be about. */
  readonly relations: readonly string[];
  readonly events: readonly Phrase[];
  readonly decisions: readonly Phrase[];
  /** How much it cost, or how long it has lasted. */
  readonly measure: Measure;
}

interface Measure {
  readonly type: 'amount' | 'duration';
  /** Sentences of a post. */
  readonly sentences: readonly string[];
  /** Ends of a sentence in a summary. */
  readonly clauses: readonly string[];
}

const money: Measure = {
  type: 'amount',
  sentences: [
    'That cost me {measure}.',
    'I lost {measure} because of this.',
    'The damage is {measure}.',
    'I had to pay {measure} for it.',
  ],
  clauses: ['and I lost {measure}', 'costing me {measure}'],
};

const together: Measure = {
  type: 'duration',
  sentences: ['We have been together for {measure}.', 'We were happy for {measure}.'],
  clauses: ['after {measure} together', 'after {measure}'],
};

const job: Measure = {
  type: 'duration',
  sentences: ['I have worked there for {measure}.', 'I have had this job for {measure}.'],
  clauses: ['after {measure} there', 'after {measure}'],
};

const course: Measure = {
  type: 'duration',
  sentences: ['I have been in this class for {measure}.', 'I worked hard for {measure}.'],
  clauses: ['after {measure} in class', 'after {measure}'],
};

const things = ['phone', 'laptop', 'bike', 'camera', 'watch'];
const pets = ['dog', 'cat', 'rabbit'];

/** @example ['broke|smashed', ['phone']]  →  'broke my phone|smashed my phone' */
const eventsWith = (verbs: readonly string[], objects: readonly string[]) =>
  makePhrases(
    'event',
    verbs.flatMap((verb) =>
      objects.map((object) =>
        verb
          .split('|')
          .map((form) => `${form} my ${object}`)
          .join('|'),
      ),
    ),
  );

const decisionsOf = (...lines: readonly string[]) => makePhrases('decision', lines);

export const scenarios: readonly Scenario[] = [
  {
    subreddit: 'relationships',
    relations: ['girlfriend', 'boyfriend', 'wife', 'husband'],
    events: makePhrases('event', [
      'lied about a trip|lied to me about a trip',
      'forgot my birthday|missed my birthday',
      'read my messages|went through my messages',
      'kissed a stranger',
      'quit a good job|left a good job',
    ]),
    decisions: decisionsOf('break up|end it', 'let it go|forgive it', 'get counseling', 'move out'),
    measure: together,
  },
  {
    subreddit: 'roommates',
    relations: ['roommate', 'friend', 'cousin'],
    events: eventsWith(['broke|smashed', 'lost'], things),
    decisions: decisionsOf(
      'move out',
      'ask for the money',
      'change the locks',
      'let it go|forgive it',
    ),
    measure: money,
  },
  {
    subreddit: 'family',
    relations: ['sister', 'brother', 'mother', 'father', 'aunt', 'uncle', 'cousin'],
    events: eventsWith(['sold', 'gave away'], things),
    decisions: decisionsOf(
      'skip the wedding',
      'cut contact',
      'ask for the money',
      'let it go|forgive it',
    ),
    measure: money,
  },
  {
    subreddit: 'work',
    relations: ['boss', 'manager', 'coworker'],
    events: makePhrases('event', [
      'took credit for my work|took credit for my idea',
      'yelled at me|shouted at me',
      'cut my hours',
      'deleted my report',
      'gave away my shift',
    ]),
    decisions: decisionsOf(
      'quit my job|leave my job',
      'go to HR|talk to HR',
      'ask for a raise',
      'let it go|forgive it',
    ),
    measure: job,
  },
  {
    subreddit: 'school',
    relations: ['teacher', 'classmate'],
    events: makePhrases('event', [
      'copied my essay|stole my essay',
      'gave me a bad grade',
      'laughed at me|made fun of me',
      'ruined our project',
    ]),
    decisions: decisionsOf(
      'drop the class|leave the class',
      'tell the dean',
      'change schools',
      'let it go|forgive it',
    ),
    measure: course,
  },
  {
    subreddit: 'pets',
    relations: ['neighbor', 'landlord', 'roommate', 'friend'],
    events: eventsWith(['kicked', 'let out', 'scared'], pets),
    decisions: decisionsOf('call the police', 'ask for the money', 'get a lawyer', 'move out'),
    measure: money,
  },
  {
    subreddit: 'travel',
    relations: ['friend', 'cousin', 'sister', 'brother', 'girlfriend', 'boyfriend'],
    events: makePhrases('event', [
      'cancelled our trip|called off our trip',
      'lost my passport',
      'missed our flight',
      'booked the wrong hotel',
    ]),
    decisions: decisionsOf(
      'go alone|travel alone',
      'stay home',
      'ask for the money',
      'end the friendship',
    ),
    measure: money,
  },
];
