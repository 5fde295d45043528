/** What server and page of the dashboard tell each other. Only types: the page is built from them too. */

import type { TokenRecord } from '../loop/records.ts';
import type { LogRow } from '../run/log-files.ts';
import type { RunCommand } from '../run/run-control.ts';
import type { RunState } from '../run/run-state.ts';

export type { LogRow };

export type RunKindName = 'ppo' | 'sft' | 'reward';

/** `killed` where the process is gone without having said why; `paused` and `waiting` (for human
 *  scores) are states of a living one. */
export type RunStatus = RunState['status'] | 'killed';

/** A run in the list. */
export interface RunSummary {
  /** Stable and safe in a URL; says nothing of the path. */
  readonly id: string;
  /** The folder's name, unique in the list. */
  readonly name: string;
  readonly kind: RunKindName;
  readonly status: RunStatus;
  readonly step: number;
  readonly totalSteps: number | null;
  readonly startedAt: string;
  /** Seconds to the end at the present speed; null where nothing is known or the run has ended. */
  readonly eta: number | null;
  /** Why it ended, or what it waits for, in one sentence. */
  readonly message: string | null;
  /** What a living run is at. */
  readonly phase: { readonly phase: string; readonly done: number; readonly total: number } | null;
  /** Lines of the logs. */
  readonly counts: {
    readonly metrics: number;
    readonly samples: number;
    readonly evaluations: number;
    readonly log: number;
  };
}

/** Metrics as columns, in order of steps; null where a step has no such number. */
export interface MetricColumns {
  readonly steps: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
  /** Rows on the disk; more than `steps` has where they were thinned out. */
  readonly rows: number;
}

/** A line of `evaluations.jsonl`: a report of the evaluator, or the numbers of a validation. */
export type EvaluationRow = { readonly step: number } & Readonly<Record<string, unknown>>;

/** A line of `samples.jsonl`, and its place in the file. */
export interface SampleRow {
  readonly index: number;
  readonly step: number;
  readonly promptIdx: number;
  readonly sample: number;
  readonly prompt: string;
  readonly response: string;
  readonly score: number | null;
  readonly kl: number | null;
  readonly length: number;
  readonly finished: boolean;
  readonly hasTokens: boolean;
}

export interface SampleQuery {
  readonly offset?: number;
  readonly limit?: number;
  /** Part of prompt or response, case does not matter. */
  readonly search?: string;
  readonly promptIdx?: number;
  readonly fromStep?: number;
  readonly toStep?: number;
  readonly minScore?: number;
  readonly maxScore?: number;
  readonly sort?: 'step' | 'score' | 'kl' | 'length';
  readonly order?: 'asc' | 'desc';
}

export interface SamplePage {
  /** Rows that the query finds. */
  readonly total: number;
  readonly rows: readonly SampleRow[];
}

/** A line of `tokens.jsonl`. */
export type TokenColumns = TokenRecord;

/** Pause before the next step, go on, save a checkpoint after this step, end after this step. */
export type ControlCommand = RunCommand;

/** What a person is asked for. */
export type LabelTaskKind = 'pair' | 'rating' | 'ranking';

/** Something for people to label. `live` queues are those of a run that waits for scores. */
export interface LabelQueue {
  readonly id: string;
  readonly name: string;
  readonly kind: LabelTaskKind;
  readonly live: boolean;
  /** Tasks in it. */
  readonly total: number;
  /** Tasks with at least one answer. */
  readonly answered: number;
  readonly labellers: readonly { readonly name: string; readonly answers: number }[];
  /** Part of the tasks answered by several people on which they agree; null where there are none. */
  readonly agreement: number | null;
}

/** A task as one labeller sees it: the responses are shuffled, and nothing tells where they come from. */
export interface LabelTask {
  readonly id: string;
  readonly kind: LabelTaskKind;
  readonly prompt: string;
  readonly responses: readonly string[];
}

/** `choice` is the place in the task's `responses` as shown; ratings go from 1 to 5; a ranking lists
 *  places, the best first. */
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

/** Where a queue's responses come from. `samples` are taken from a run, `generate` from a model, and
 *  `file` from JSON Lines of { prompt, responses } or { prompt, chosen, rejected }. */
export type QueueSource =
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
  readonly source: QueueSource;
  /** Responses of a ranking; 2 for a pair, 1 for a rating. */
  readonly responses?: number;
  /** Tasks at most; 100 by default. */
  readonly limit?: number;
}

/** A queue that a model is filling. */
export interface FillingQueue {
  readonly name: string;
  /** Prompts that have their responses. */
  readonly done: number;
  readonly total: number;
}

/** What the server sends without being asked (SSE, one JSON object each): something has changed, so
 *  that the page asks for what is new. `metrics` carries the new rows themselves. */
export type DashboardEvent =
  | { readonly type: 'runs'; readonly runs: readonly RunSummary[] }
  | { readonly type: 'metrics'; readonly run: string; readonly data: MetricColumns }
  /** The logs were cut, as a resumed run does: what the page holds is no longer true. */
  | { readonly type: 'reset'; readonly run: string }
  | { readonly type: 'labels'; readonly queues: readonly LabelQueue[] }
  /** How far a model is that fills a new queue; null when it has ended, well or not. */
  | { readonly type: 'filling'; readonly queue: FillingQueue | null };

/** Every refusal. */
export interface ApiError {
  readonly error: string;
}

/**
 * GET  api/runs                             → RunSummary[]
 * GET  api/runs/:id/config                  → the run's config.json
 * GET  api/runs/:id/metrics?points=&from=   → MetricColumns, thinned to about `points` rows
 * GET  api/runs/:id/evaluations             → EvaluationRow[]
 * GET  api/runs/:id/log                     → LogRow[]
 * GET  api/runs/:id/samples?…SampleQuery    → SamplePage
 * GET  api/runs/:id/samples/:index/tokens   → TokenColumns
 * POST api/runs/:id/control {command}       → 204; events tell what becomes of it
 * GET  api/labels                           → LabelQueue[]
 * POST api/labels NewQueue                  → LabelQueue
 * GET  api/labels/:id/next?labeller=        → LabelTask, or 204 where this labeller has done all
 * POST api/labels/:id/answers LabelAnswer   → LabelQueue
 * POST api/labels/:id/undo {labeller}       → LabelTask that is open again
 * GET  api/labels/:id/export                → JSON Lines as `proximal reward` reads them
 * GET  api/events                           → stream of DashboardEvent
 */
export interface DashboardSource {
  runs(): Promise<readonly RunSummary[]>;
  config(run: string): Promise<Readonly<Record<string, unknown>>>;
  metrics(run: string): Promise<MetricColumns>;
  evaluations(run: string): Promise<readonly EvaluationRow[]>;
  log(run: string): Promise<readonly LogRow[]>;
  samples(run: string, query: SampleQuery): Promise<SamplePage>;
  tokens(run: string, index: number): Promise<TokenColumns>;
  /** Undefined in a report, where nothing can be changed and nothing happens. */
  readonly live: LiveSource | undefined;
}

export interface LiveSource {
  /** Calls back on every event, and with `connected` as the stream comes and goes; returns what ends
   *  that. */
  subscribe(
    onEvent: (event: DashboardEvent | { readonly type: 'connected' | 'lost' }) => void,
  ): () => void;
  control(run: string, command: ControlCommand): Promise<void>;
  queues(): Promise<readonly LabelQueue[]>;
  createQueue(queue: NewQueue): Promise<LabelQueue>;
  nextTask(queue: string, labeller: string): Promise<LabelTask | undefined>;
  answer(queue: string, answer: LabelAnswer): Promise<LabelQueue>;
  undo(queue: string, labeller: string): Promise<LabelTask>;
  exportUrl(queue: string): string;
}
