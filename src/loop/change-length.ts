/** The number of steps of a resumed run, before and now. */
export interface LengthChange {
  /** Completed steps. */
  readonly step: number;
  /** Steps of the whole run when the checkpoint was saved; undefined in checkpoints of older versions. */
  readonly before: number | undefined;
  /** Steps of the whole run now. */
  readonly now: number;
  /** How the learning rate changes over the run. */
  readonly schedule: string;
}

/** Checks the number of steps of a resumed run, which may have changed. Returns a sentence if the run
 *  will differ from one that had this number of steps from the start: the learning rate follows the
 *  schedule over the new number of steps, but only from the checkpoint on. */
export function checkLength({ step, before, now, schedule }: LengthChange): string | undefined {
  if (now < step) {
    throw new RangeError(
      `Cannot resume: maxSteps must be at least the ${step} steps that are completed, got ${now}; raise it or start a new run`,
    );
  }
  if (before === undefined || before === now || schedule === 'constant') return undefined;
  return `The run now has ${now} steps instead of ${before}: from step ${step} on, the learning rate follows the ${schedule} schedule over ${now} steps, so the result differs from a run that started with ${now} steps`;
}
