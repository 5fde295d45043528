/** Controls a run from outside. The loop calls it before each step and waits for its answer, so a
 *  paused run is one whose control has not answered yet. After `save` the loop asks again. */
export interface StepControl {
  /** Decides before each step whether to continue, save a checkpoint or stop.
   *  @param step number of completed steps */
  betweenSteps(step: number): Promise<'continue' | 'save' | 'stop'>;
}

/** The message of a run that was stopped on request. */
export const stoppedOnRequest = 'The run was stopped on request and can be resumed';

/** An abort reason that stops a run in the middle of a step. */
export class StopRequest extends Error {
  override readonly name = 'StopRequest';

  constructor() {
    super(stoppedOnRequest);
  }
}

/** Handles all pending requests before the next step. Returns whether the run should stop. */
export async function stopRequested(
  control: StepControl | undefined,
  { step, save }: { readonly step: number; readonly save: () => Promise<void> },
): Promise<boolean> {
  for (;;) {
    const request = (await control?.betweenSteps(step)) ?? 'continue';
    if (request !== 'save') return request === 'stop';
    await save();
  }
}

/** The message of a run that was aborted by a signal. */
export function describeInterruption({ reason }: AbortSignal): string {
  return reason instanceof StopRequest
    ? stoppedOnRequest
    : 'The run was interrupted and can be resumed';
}
