/** Tokens of the environment inside a response, such as the result of a tool. The policy reads them but
 *  did not sample them: they are part of the state and never an action. */
export interface Observation {
  /** Number of sampled tokens before it; at least one sampled token follows. */
  readonly at: number;
  readonly tokens: Int32Array;
  /** Its text, special tokens included. */
  readonly text: string;
}

/** Sampled tokens with the observations in their places. Observations after the last token are included,
 *  those that come later are not.
 *  @example tokens [1, 2, 3], observation [8, 9] at 2  →  [1, 2, 8, 9, 3] */
export function insertObservations(
  tokens: Int32Array,
  observations: readonly Observation[] = [],
): Int32Array {
  if (observations.length === 0) return tokens;
  const known = observations.filter(({ at }) => at <= tokens.length);
  const whole = new Int32Array(tokens.length + countObserved(known));
  let [from, to] = [0, 0];
  for (const observation of known) {
    whole.set(tokens.subarray(from, observation.at), to);
    to += observation.at - from;
    whole.set(observation.tokens, to);
    to += observation.tokens.length;
    from = observation.at;
  }
  whole.set(tokens.subarray(from), to);
  return whole;
}

/** Positions of the states before each sampled token, relative to the first one: the state is at the
 *  token before, whether sampled or observed.
 *  @param count number of states; one more than the sampled tokens includes the state after the last
 *  @example 3 states, observation of 2 tokens at 2  →  [0, 1, 4] */
export function statePositions(
  count: number,
  observations: readonly Observation[] = [],
): Int32Array {
  const positions = new Int32Array(count);
  let [next, observed] = [0, 0];
  for (let t = 0; t < count; t++) {
    while (next < observations.length && observations[next]!.at <= t) {
      observed += observations[next++]!.tokens.length;
    }
    positions[t] = t + observed;
  }
  return positions;
}

/** Number of tokens of all observations. */
export function countObserved(observations: readonly Observation[] = []): number {
  return observations.reduce((sum, { tokens }) => sum + tokens.length, 0);
}
