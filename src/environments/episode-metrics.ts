import { mean } from '../columns/index.ts';
import { type Episode, toolErrorKinds } from './environment.ts';

/** Metrics of a step's episodes: turns and tool calls per episode, the share of calls without an error,
 *  the number of errors of each kind, and the mean seconds of a call.
 *  @example two episodes of 2 and 1 turns, one call each, one of them invalid JSON
 *    →  turns 1.5, calls 1, valid_calls 0.5, errors/invalid_json 1 */
export function episodeMetrics(episodes: readonly Episode[]): Record<string, number> {
  const calls = episodes.flatMap(({ turns }) => turns.flatMap((turn) => turn.calls));
  const errors = toolErrorKinds.map((kind) => [
    `tools/errors/${kind}`,
    calls.filter(({ error }) => error === kind).length,
  ]);
  const valid = calls.filter(({ error }) => error === undefined).length;
  return {
    'episodes/turns': mean(episodes.map(({ turns }) => turns.length)),
    'tools/calls': calls.length / episodes.length,
    ...(calls.length > 0 && {
      'tools/valid_calls': valid / calls.length,
      'tools/seconds': mean(calls.map(({ seconds }) => seconds)),
      ...Object.fromEntries(errors),
    }),
  };
}
