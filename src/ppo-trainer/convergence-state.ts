import { z } from 'zod';

const markSchema = z.strictObject({
  reward: z.number(),
  rewardStd: z.number(),
  responses: z.int().min(1),
});

const stateSchema = z.strictObject({
  firstRepetition: z.number().nullable(),
  best: markSchema.nullable(),
  lastRise: markSchema.nullable(),
  evaluationsSinceRise: z.int().min(0),
});

/** The reward of an evaluation and how sure it is. */
export type RewardMark = Readonly<z.output<typeof markSchema>>;

/** All that a convergence monitor remembers, as plain JSON for a checkpoint. */
export type ConvergenceState = Readonly<z.output<typeof stateSchema>>;

/** What it remembers before the first evaluation. */
export const INITIAL_STATE: ConvergenceState = {
  firstRepetition: null,
  best: null,
  lastRise: null,
  evaluationsSinceRise: 0,
};

/** Takes a state as a checkpoint gives it back. */
export function readConvergenceState(state: unknown): ConvergenceState {
  const { success, data, error } = stateSchema.safeParse(state);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue!.path.length > 0 ? `"${issue!.path.join('.')}" of the state` : 'the state';
  throw new RangeError(
    `Cannot restore convergence: ${place} must be what state() gave, got ${JSON.stringify(state)}; choose another checkpoint`,
  );
}
