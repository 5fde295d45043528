/** Steers a run from outside. It is asked before each step, and may take its time to answer, as it
 *  does while the run is paused. After a `save` it is asked again. */
export interface StepControl {
  /** @param step steps made so far */
  betweenSteps(step: number): Promise<'go' | 'save' | 'stop'>;
}

/** What is said of a run that ends because it was asked to. */
export const stoppedOnRequest = 'The run was stopped on request and goes on with --resume';

/** The same as the reason of a signal, which ends a run within a step. */
export class StopRequest extends Error {
  override readonly name = 'StopRequest';

  constructor() {
    super(stoppedOnRequest);
  }
}

/** Does what a run is told before its next step; tells whether it is to end. */
export async function isToldToStop(
  control: StepControl | undefined,
  { step, save }: { readonly step: number; readonly save: () => Promise<void> },
): Promise<boolean> {
  for (;;) {
    const word = (await control?.betweenSteps(step)) ?? 'go';
    if (word !== 'save') return word === 'stop';
    await save();
  }
}

/** What is said of a run that a signal ended. */
export function describeInterruption({ reason }: AbortSignal): string {
  return reason instanceof StopRequest
    ? stoppedOnRequest
    : 'The run was interrupted and can be resumed';
}
