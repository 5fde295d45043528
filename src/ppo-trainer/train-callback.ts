import type { TrainEvent } from './events.ts';
import type { Metrics } from './records.ts';

/** Called at the end of each epoch, which counts from 1. */
export type EpochCallback = (epoch: number, metrics: Metrics) => void | Promise<void>;

/** Called at the ends that it has a function for. */
export interface StepCallbacks {
  readonly onStepEnd?: ((step: number, metrics: Metrics) => void | Promise<void>) | undefined;
  readonly onEpochEnd?: EpochCallback | undefined;
}

export type TrainCallback = EpochCallback | StepCallbacks;

/** Tells a callback of an event that it is for. */
export async function callBack(callback: TrainCallback, event: TrainEvent): Promise<void> {
  const { onStepEnd, onEpochEnd } =
    typeof callback === 'function' ? { onStepEnd: undefined, onEpochEnd: callback } : callback;
  if (event.type === 'step') await onStepEnd?.(event.step, event.metrics);
  if (event.type === 'epoch') await onEpochEnd?.(event.epoch, event.metrics);
}
