/** The contract between the dashboard's server and its page. */

import type { TokenRecord, TurnRecord } from '../loop/records.ts';
import type { WorkerState, WorkersState } from '../queue/workers-file.ts';
import type { LogRow } from '../run/log-files.ts';
import type { RunCommand } from '../run/run-control.ts';
import type { RunState } from '../run/run-state.ts';

export type { LogRow, TurnRecord, WorkerState, WorkersState };

export type RunKindName = 'ppo' | 'sft' | 'reward';

/** `killed` means that the process ended without giving a reason; `paused` and `waiting` (for human
 *  scores) are states of an active run. */
export type RunStatus = RunState['status'] | 'killed';

/** A run in the list. */
export interface RunSummary {
  /** Stable and safe in a URL; does not reveal the path. */
  readonly id: string;
  /** The folder's name, unique in the list. */
  readonly name: string;
  readonly kind: RunKindName;
  readonly status: RunStatus;
  readonly step: number;
  readonly totalSteps: number | null;
  readonly startedAt: string;
  /** Remaining seconds at the current speed; null if unknown or if the run has ended. */
  readonly eta: number | null;
  /** Why it ended, or what it is waiting for, in one sentence. */
  readonly message: string | null;
  /** The current phase of an active run. */
  readonly phase: { readonly phase: string; readonly done: number; readonly total: number } | null;
  /** Number of lines of the logs. */
  readonly counts: {
    readonly metrics: number;
    readonly samples: number;
    readonly evaluations: number;
    readonly log: number;
  };
  /** Latest numbers by metric name: of the last step, and of the last evaluation (`eval/…`). */
  readonly results: Readonly<Record<string, number>>;
  /** What people wrote about the run; empty if nothing. */
  readonly note: string;
  /** When it last wrote the state of its workers; null if it has none. */
  readonly workersAt: string | null;
}

/** Metrics as columns, in order of steps; null if a step has no such number. */
export interface MetricColumns {
  readonly steps: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
  /** Number of rows on disk; more than in `steps` if they were thinned. */
  readonly rows: number;
}

/** A line of `evaluations.jsonl`: a report of the evaluator or the metrics of a validation. */
export type EvaluationRow = { readonly step: number } & Readonly<Record<string, unknown>>;

/** A line of `samples.jsonl` and its index in the file. */
export interface SampleRow {
  readonly index: number;
  readonly step: number;
  readonly promptIdx: number;
  readonly sample: number;
  readonly prompt: string;
  readonly response: string;
  readonly score: number | null;
  /** The score of each reward source, without its weight; null in runs of earlier versions. */
  readonly sourceScores: Readonly<Record<string, number>> | null;
  readonly kl: number | null;
  readonly length: number;
  readonly finished: boolean;
  /** The turns of a conversation with an environment; null without one. */
  readonly turns: readonly TurnRecord[] | null;
  readonly hasTokens: boolean;
}

export interface SampleQuery {
  readonly offset?: number;
  readonly limit?: number;
  /** Part of the prompt or response, case-insensitive. */
  readonly search?: string;
  readonly promptIdx?: number;
  readonly fromStep?: number;
  readonly toStep?: number;
  readonly minScore?: number;
  readonly maxScore?: number;
  /** A tool that was called. */
  readonly tool?: string;
  /** The kind of a tool's error, or `any`. */
  readonly toolError?: string;
  readonly sort?: 'step' | 'score' | 'kl' | 'length';
  readonly order?: 'asc' | 'desc';
}

export interface SamplePage {
  /** Number of rows that match the query. */
  readonly total: number;
  readonly rows: readonly SampleRow[];
}

/** A line of `tokens.jsonl`. */
export type TokenColumns = TokenRecord;

/** Longest note of a run, in characters. */
export const maxNoteLength = 5000;

/** Pause before the next step, resume, save a checkpoint after this step, stop after this step. */
export type ControlCommand = RunCommand;

/** Kind of a labelling task. */
export type LabelTaskKind = 'pair' | 'rating' | 'ranking';

/** A queue of tasks. A `live` queue belongs to a run that waits for scores. */
export interface LabelQueue {
  readonly id: string;
  readonly name: string;
  readonly kind: LabelTaskKind;
  /** What labellers are asked. */
  readonly question: string;
  readonly live: boolean;
  /** Id of the run that waits for scores, or whose policy is compared; null for other queues and if
   *  the dashboard does not show the run. */
  readonly run: string | null;
  /** What to do with the answers, with the commands for it. */
  readonly next: readonly NextStep[];
  /** Number of tasks. */
  readonly total: number;
  /** Number of tasks with at least one answer. */
  readonly answered: number;
  readonly labellers: readonly { readonly name: string; readonly answers: number }[];
  /** Fraction of the tasks with several answers on which labellers agree; null if there are none. */
  readonly agreement: number | null;
}

/** A step after labelling, with a command for the folder where the dashboard was started. */
export interface NextStep {
  readonly title: string;
  readonly command: string;
}

/** A task as one labeller sees it: responses are shuffled and their origin is hidden. */
export interface LabelTask {
  readonly id: string;
  readonly kind: LabelTaskKind;
  readonly prompt: string;
  readonly responses: readonly string[];
}

/** `choice` is an index into the task's `responses` as shown; ratings are from 1 to 5; a ranking lists
 *  indices, the best first. */
export type LabelChoice =
  | { readonly kind: 'pair'; readonly choice: 0 | 1 | 'tie' | 'both-bad' }
  | { readonly kind: 'rating'; readonly rating: number }
  | { readonly kind: 'ranking'; readonly order: readonly number[] };

export interface LabelAnswer {
  readonly task: string;
  readonly labeller: string;
  readonly answer: LabelChoice;
  readonly note?: string;
}

/** Source of a queue's responses: a run's policy against its reference or against another run's policy,
 *  the samples of a run, new ones from a model, or a JSON Lines file of { prompt, responses } or
 *  { prompt, chosen, rejected }. */
export type QueueSource =
  | {
      readonly from: 'compare';
      /** Runs by their ids. */
      readonly run: string;
      /** The run's reference if missing. */
      readonly against?: string;
      /** File of prompts; the run's validation prompts if missing. */
      readonly prompts?: string;
    }
  | { readonly from: 'samples'; readonly run: string; readonly fromStep?: number }
  | {
      readonly from: 'generate';
      readonly model: string;
      readonly prompts: string;
      readonly maxNewTokens?: number;
    }
  | { readonly from: 'file'; readonly file: string };

export interface NewQueue {
  readonly name: string;
  readonly kind: LabelTaskKind;
  /** What labellers are asked; a question that fits the kind if missing. */
  readonly question?: string;
  readonly source: QueueSource;
  /** Number of responses of a ranking; 2 for a pair, 1 for a rating. */
  readonly responses?: number;
  /** Maximum number of tasks; 100 by default. */
  readonly limit?: number;
}

/** A queue that a model is filling. */
export interface FillingQueue {
  readonly name: string;
  /** Number of prompts that have responses. */
  readonly done: number;
  readonly total: number;
}

/** Server-sent events, one JSON object each. They report changes, which the page then loads; `metrics`
 *  contains the new rows themselves. */
export type DashboardEvent =
  | { readonly type: 'runs'; readonly runs: readonly RunSummary[] }
  | { readonly type: 'metrics'; readonly run: string; readonly data: MetricColumns }
  /** The logs were truncated, as by a resumed run: the page must reload them. */
  | { readonly type: 'reset'; readonly run: string }
  | { readonly type: 'labels'; readonly queues: readonly LabelQueue[] }
  /** Progress of a model that fills a new queue; null when it ends, even with an error. */
  | { readonly type: 'filling'; readonly queue: FillingQueue | null };

/** Body of every error response. */
export interface ApiError {
  readonly error: string;
}

/**
 * GET  api/runs                             → RunSummary[]
 * GET  api/runs/:id/config                  → the run's config.json
 * GET  api/runs/:id/metrics?points=&from=   → MetricColumns, thinned to about `points` rows
 * GET  api/runs/:id/evaluations             → EvaluationRow[]
 * GET  api/runs/:id/log                     → LogRow[]
 * GET  api/runs/:id/workers                 → WorkersState, or null without a queue
 * GET  api/runs/:id/samples?…SampleQuery    → SamplePage
 * GET  api/runs/:id/samples/:index/tokens   → TokenColumns
 * POST api/runs/:id/control {command}       → 204; events report the result
 * POST api/runs/:id/note {note}             → 204; events report the result
 * GET  api/labels                           → LabelQueue[]
 * POST api/labels NewQueue                  → LabelQueue
 * GET  api/labels/:id/next?labeller=        → LabelTask, or 204 if this labeller has answered all
 * POST api/labels/:id/answers LabelAnswer   → LabelQueue
 * POST api/labels/:id/undo {labeller}       → the reopened LabelTask
 * GET  api/labels/:id/export                → JSON Lines as `proximal reward` reads them
 * GET  api/events                           → stream of DashboardEvent
 */
export interface DashboardSource {
  runs(): Promise<readonly RunSummary[]>;
  config(run: string): Promise<Readonly<Record<string, unknown>>>;
  metrics(run: string): Promise<MetricColumns>;
  evaluations(run: string): Promise<readonly EvaluationRow[]>;
  log(run: string): Promise<readonly LogRow[]>;
  /** Null if the run sends no jobs to workers. */
  workers(run: string): Promise<WorkersState | null>;
  samples(run: string, query: SampleQuery): Promise<SamplePage>;
  tokens(run: string, index: number): Promise<TokenColumns>;
  /** Undefined in a report, which is read-only. */
  readonly live: LiveSource | undefined;
}

export interface LiveSource {
  /** Calls back on every event, and when the connection is made or lost; returns a function that
   *  unsubscribes. */
  subscribe(
    onEvent: (event: DashboardEvent | { readonly type: 'connected' | 'lost' }) => void,
  ): () => void;
  control(run: string, command: ControlCommand): Promise<void>;
  /** Saves what people want to remember about a run; an empty text removes it. */
  saveNote(run: string, note: string): Promise<void>;
  queues(): Promise<readonly LabelQueue[]>;
  createQueue(queue: NewQueue): Promise<LabelQueue>;
  nextTask(queue: string, labeller: string): Promise<LabelTask | undefined>;
  answer(queue: string, answer: LabelAnswer): Promise<LabelQueue>;
  undo(queue: string, labeller: string): Promise<LabelTask>;
  exportUrl(queue: string): string;
}

/** The data of a report: the JSON in its element with id `proximal-report`. */
export interface ReportData {
  /** `counts.samples` is the number of samples in the report. */
  readonly run: RunSummary;
  /** The run's config.json, with only the last part of absolute paths. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Thinned. */
  readonly metrics: MetricColumns;
  readonly evaluations: readonly EvaluationRow[];
  readonly log: readonly LogRow[];
  /** Some of the run's samples, in the order of the file; `index` is the index in the file. */
  readonly samples: readonly SampleRow[];
  /** Tokens of the samples by `index`, if recorded. */
  readonly tokens: Readonly<Record<number, TokenColumns>>;
}
