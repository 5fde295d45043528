/** What happened, as summaries tell it; {when} and {clause} may be empty. */
export const tellings: readonly string[] = [
  '{who} {event} {when} {clause}.',
  '{when} {who} {event} {clause}.',
];

/** Stand for a telling where a summary does not say what happened. */
export const vagueTellings: readonly string[] = [
  'There was trouble with {who} {when} {clause}.',
  '{when} there was trouble with {who} {clause}.',
];

/** Stands for {who} where a summary does not say it. */
export const someone = 'someone';

export const asks: readonly string[] = [
  'Should I {decision}?',
  'I may {decision}.',
  'I want to {decision}.',
  'I think I should {decision}.',
];

/** Stand for an ask where a summary does not say the decision. */
export const vagueAsks: readonly string[] = ['What should I do?', 'I need some advice.'];

/** What rambling summaries add of their own; the last says again what they said. */
export const fillers: readonly string[] = [
  'I do not know what to do.',
  'It is a long story.',
  'I think about it all the time.',
  'Again, {who} {event}.',
];
