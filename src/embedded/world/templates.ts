export type Slots = Readonly<Record<string, string>>;

/** Fills the slots of a template and capitalises each sentence; an empty slot also removes the space
 *  before it.
 *  @example '{when} {she} {event}.' with when = 'last week', she = 'she', event = 'broke my phone'
 *           →  'Last week she broke my phone.' */
export function fillTemplate(template: string, slots: Slots): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = slots[name];
    if (value === undefined) throw new Error(`Internal: no "${name}" for template "${template}"`);
    return value;
  });
  const spaced = filled
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.?!])/g, '')
    .trim();
  return spaced.replace(/(^|[.?!] )\p{Ll}/gu, (start) => start.toUpperCase());
}

/** Sentences of posts. Slots: {who} is the person's full name (`my sister Anna`), {she} the short one,
 *  {other} someone else; {otherDecision} and similar slots are not key facts. */

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

/** What happened, if one of `dates` has the time. */
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

/** What happened, in summaries; {when} and {clause} may be empty. */
export const tellings: readonly string[] = [
  '{who} {event} {when} {clause}.',
  '{when} {who} {event} {clause}.',
];

/** Used if a summary does not say what happened. */
export const vagueTellings: readonly string[] = [
  'There was trouble with {who} {when} {clause}.',
  '{when} there was trouble with {who} {clause}.',
];

/** Used for {who} if a summary does not say it. */
export const someone = 'someone';

export const asks: readonly string[] = [
  'Should I {decision}?',
  'I may {decision}.',
  'I want to {decision}.',
  'I think I should {decision}.',
];

/** Used if a summary does not mention the decision. */
export const vagueAsks: readonly string[] = ['What should I do?', 'I need some advice.'];

/** What rambling summaries add; the last repeats a fact. */
export const fillers: readonly string[] = [
  'I do not know what to do.',
  'It is a long story.',
  'I think about it all the time.',
  'Again, {who} {event}.',
];
