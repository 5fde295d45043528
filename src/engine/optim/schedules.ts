/** Names of the learning-rate schedules that a config may choose. */
export const scheduleNames = ['constant', 'linear', 'cosine'] as const;

export type ScheduleName = (typeof scheduleNames)[number];

/** Maps the number of completed steps to a factor of the learning rate. */
export type Schedule = (step: number) => number;

export interface ScheduleOptions {
  /** Steps over which the factor rises from 0 to 1; 0 by default. */
  readonly warmupSteps?: number;
  /** Steps of the whole training, including warm-up. */
  readonly totalSteps: number;
}

/** The factor after warm-up, with s = step, W = warmupSteps, T = totalSteps. */
const decays: {
  readonly [Name in ScheduleName]: (s: number, span: { W: number; T: number }) => number;
} = {
  constant: () => 1,
  linear: (s, { W, T }) => Math.max(0, (T - s) / Math.max(1, T - W)),
  cosine: (s, { W, T }) => 0.5 * (1 + Math.cos((Math.PI * (s - W)) / Math.max(1, T - W))),
};

/** A learning-rate schedule with linear warm-up, like transformers' get_…_schedule_with_warmup.
 *  s < W:     s/W
 *  constant:  1
 *  linear:    max(0, (T − s)/(T − W))
 *  cosine:    ½(1 + cos(π(s − W)/(T − W))), which rises again after T
 *  @example W=2, T=6, s=0…6
 *    →  linear 0, ½, 1, ¾, ½, ¼, 0;  cosine 0, ½, 1, 0.854, ½, 0.146, 0 */
export function makeSchedule(
  name: ScheduleName,
  { warmupSteps: W = 0, totalSteps: T }: ScheduleOptions,
): Schedule {
  expectSteps(W, 'warmupSteps');
  expectSteps(T, 'totalSteps');
  const decay = decays[name];
  return (s) => (s < W ? s / W : decay(s, { W, T }));
}

function expectSteps(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(
      `Cannot create a schedule: ${what} must be a whole number ≥ 0, got ${value}`,
    );
  }
}
