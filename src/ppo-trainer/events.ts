import type { EvaluationReport } from './evaluation-report.ts';
import type { Metrics, SampleRecord, StopReason, TokenRecord } from './records.ts';

export type Phase = 'generate' | 'score' | 'update' | 'evaluate';

/** All that a run tells. The terminal, the log and the web page read the same stream. */
export type TrainEvent =
  | {
      readonly type: 'run-start';
      /** Steps already made, if the run was resumed. */
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
      /** The numbers of every token of some of the samples. */
      readonly tokens: readonly TokenRecord[];
    }
  | {
      readonly type: 'epoch';
      readonly step: number;
      readonly epoch: number;
      readonly metrics: Metrics;
    }
  | { readonly type: 'evaluation'; readonly step: number; readonly report: EvaluationReport }
  /** How SFT or a reward model does on what it does not learn from. */
  | { readonly type: 'validation'; readonly step: number; readonly metrics: Metrics }
  | {
      readonly type: 'checkpoint';
      readonly step: number;
      readonly folder: string;
      readonly isBest: boolean;
    }
  /** How the run fits into the memory that it may take. */
  | { readonly type: 'plan'; readonly step: number; readonly message: string }
  | { readonly type: 'warning'; readonly step: number; readonly message: string }
  /** The run has paused, waits for people, or goes on after either. */
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
      /** One sentence for people. */
      readonly message: string;
    };
