import type { Experience } from '../experience-buffer/experience.ts';

/** What losses divide by: counts of a whole optimiser step, so that micro-batches add up to it. */
export interface StepCounts {
  readonly sequenceCount: number;
  /** Response tokens. */
  readonly tokenCount: number;
  /** Values that are learned. */
  readonly stepCount: number;
}

export function countSteps({ sequences, tokens, values }: Experience): StepCounts {
  return {
    sequenceCount: sequences.length,
    tokenCount: tokens.length,
    stepCount: values.length,
  };
}
