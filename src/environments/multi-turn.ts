import type { Environment, EnvironmentAnswer, EnvironmentTurn } from './environment.ts';

/** Answers a turn: a text is the user's next message, nothing ends the episode. */
export type AnswerTurn = (
  turn: EnvironmentTurn,
) => EnvironmentAnswer | string | undefined | Promise<EnvironmentAnswer | string | undefined>;

/** Limits of an environment of several turns. */
export interface MultiTurnOptions {
  /** Most turns of the policy in an episode; 8 by default. */
  readonly maxTurns?: number | undefined;
  /** Frees what the environment holds, such as a connection. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** An environment from a function: a simulated user, a game, a code runner. It is also called after the
 *  last turn, for its reward.
 *  @example multiTurn(({ messages, turn }) => (turn < 3 ? 'Shorter, please.' : undefined)) */
export function multiTurn(
  answer: AnswerTurn,
  { maxTurns = 8, close }: MultiTurnOptions = {},
): Environment {
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1) {
    throw new RangeError(
      `Cannot create the environment: maxTurns must be a whole number ≥ 1, got ${maxTurns}`,
    );
  }
  return {
    ...(close && { close }),
    answer: async (turn) => {
      const result = await answer(turn);
      const full =
        typeof result === 'string' ? { messages: [{ role: 'user', content: result }] } : result;
      return turn.turn + 1 < maxTurns ? full : { ...full, done: true };
    },
  };
}
