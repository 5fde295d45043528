import type { EvaluationReport } from './evaluation-report.ts';
import type { Metrics, SampleRecord, StopReason, TokenRecord } from './records.ts';

/** The parts of a step that report progress. */
export type Phase = 'generate' | 'score' | 'update' | 'evaluate';

/** Everything that a run reports. The terminal, the logs and the web page read the same stream. */
export type TrainEvent =
  | {
      readonly type: 'run-start';
      /** Completed steps, if the run was resumed. */
      readonly step: number;
      readonly totalSteps: number;
      readonly stepsPerEpoch: number;
    }
  | {
      readonly type: 'phase';
      readonly step: number;
      readonly phase: Phase;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'step';
      readonly step: number;
      readonly epoch: number;
      readonly metrics: Metrics;
      readonly samples: readonly SampleRecord[];
      /** Per-token numbers of some of the samples. */
      readonly tokens: readonly TokenRecord[];
    }
  | {
      readonly type: 'epoch';
      readonly step: number;
      readonly epoch: number;
      readonly metrics: Metrics;
    }
  | {
      readonly type: 'evaluation';
      readonly step: number;
      /** `eval/…` */
      readonly metrics: Metrics;
      /** PPO only: responses and the convergence verdict. */
      readonly report?: EvaluationReport | undefined;
    }
  | {
      readonly type: 'checkpoint';
      readonly step: number;
      readonly folder: string;
      readonly isBest: boolean;
    }
  /** How the run fits into its memory limit. */
  | { readonly type: 'plan'; readonly step: number; readonly message: string }
  | { readonly type: 'warning'; readonly step: number; readonly message: string }
  /** The run paused, is waiting for people, or continues after either. */
  | {
      readonly type: 'control';
      readonly step: number;
      readonly status: 'paused' | 'waiting' | 'running';
      readonly message: string;
    }
  | {
      readonly type: 'run-end';
      readonly step: number;
      readonly reason: StopReason;
      /** One sentence for the user. */
      readonly message: string;
    };

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

/** Calls a callback if it handles the event. */
export async function notifyCallback(callback: TrainCallback, event: TrainEvent): Promise<void> {
  const { onStepEnd, onEpochEnd } =
    typeof callback === 'function' ? { onStepEnd: undefined, onEpochEnd: callback } : callback;
  if (event.type === 'step') await onStepEnd?.(event.step, event.metrics);
  if (event.type === 'epoch') await onEpochEnd?.(event.epoch, event.metrics);
}
