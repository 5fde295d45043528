import type { TrainEvent } from './events.ts';
import type { Metrics } from './records.ts';

/** Called at the end of each epoch. Epochs count from 1. */
export type EpochCallback = (epoch: number, metrics: Metrics) => void | Promise<void>;

/** Functions to call at the end of a step or an epoch. */
export interface StepCallbacks {
  /** Called after each training step with its number and metrics. */
  readonly onStepEnd?: ((step: number, metrics: Metrics) => void | Promise<void>) | undefined;
  readonly onEpochEnd?: EpochCallback | undefined;
}

/** A function called after each epoch, or an object of callbacks. */
export type TrainCallback = EpochCallback | StepCallbacks;

/** Calls a callback if the event is one of its own. */
export async function notifyCallback(callback: TrainCallback, event: TrainEvent): Promise<void> {
  const { onStepEnd, onEpochEnd } =
    typeof callback === 'function' ? { onStepEnd: undefined, onEpochEnd: callback } : callback;
  if (event.type === 'step') await onStepEnd?.(event.step, event.metrics);
  if (event.type === 'epoch') await onEpochEnd?.(event.epoch, event.metrics);
}
