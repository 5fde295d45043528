/** Sentences of posts. Slots: {who} is the one the post is about in full (`my sister Anna`), {she}
 *  in short, {other} someone else; {otherDecision} and the like are not key facts. */

export const titles: readonly string[] = [
  'Problem with my {relation}',
  'Need advice about my {relation}',
  'My {relation} {event}',
  'Should I {decision}?',
  'I need some advice',
  'What would you do?',
];

export const introductions: readonly string[] = [
  'This is about {who}.',
  'I have a problem with {who}.',
  'I need help with {who}.',
  'Things are bad between me and {who}.',
];

/** What happened, with its time. */
export const datedEvents: readonly string[] = ['{she} {event} {when}.', '{when} {she} {event}.'];

/** What happened, whose time is told by one of `dates`. */
export const events: readonly string[] = ['{she} {event}.', 'It turns out {she} {event}.'];

export const dates: readonly string[] = ['It happened {when}.', 'This was {when}.'];

export const decisions: readonly string[] = [
  'Now I think I should {decision}.',
  'I want to {decision}.',
  'Should I {decision}?',
  'I wonder if I should {decision}.',
];

/** Facts about others, which no summary needs. */
export const otherFacts: readonly string[] = [
  '{other} says I should {otherDecision}.',
  '{other} wants me to {otherDecision}.',
  '{other} visited me {otherTime}.',
  '{other} bought a car {otherTime}.',
  '{other} paid {otherAmount} for a coat.',
  '{other} won {otherAmount} {otherTime}.',
  '{other} has been ill for {otherDuration}.',
  '{other} has lived here for {otherDuration}.',
];

export const smallTalk: readonly string[] = [
  'The weather is nice today.',
  'It is raining a lot here.',
  'I had pizza for lunch.',
  'The coffee here is good.',
  'Sorry for my English.',
  'Thanks for reading this.',
  'I could not sleep.',
  'I am so tired of this.',
  'This is a long story.',
  'I like quiet evenings.',
];
