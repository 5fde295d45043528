import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { JsonlTail, type LineSink, UnusableFileError } from '../../../fs/index.ts';
import { workersStateSchema } from '../../../queue/workers-file.ts';
import { isHumanEvaluation } from '../../../run/human-evaluation.ts';
import { locateRunFiles, type RunPaths } from '../../../run/run-folder.ts';
import { stateName } from '../../../run/run-state.ts';
import type { DashboardEvent, MetricColumns, RunSummary } from '../../api.ts';
import { evaluationNumbers } from '../../evaluation-numbers.ts';
import { type LogRecord, parseRecord, readLastRecords } from '../logs/log-records.ts';
import { MetricTable } from '../logs/metric-table.ts';
import type { FoundRun } from './find-runs.ts';
import {
  isLiving,
  JsonFile,
  type JsonObject,
  kindOf,
  type ReadState,
  readState,
} from './read-state.ts';

type RunEvent = Extract<DashboardEvent, { type: 'metrics' | 'reset' }>;

/** Keeps the summary of one run up to date. It only counts log lines; `RunTables` reads them. */
export class RunReader {
  readonly folder: string;
  readonly id: string;
  /** May change if another run has the same name. */
  name: string;
  private readonly paths: RunPaths;
  private readonly state: JsonFile;
  private readonly config: JsonFile;
  private readonly metrics = new MetricFeed();
  private readonly samples = new LineCount();
  private readonly evaluations = new LastLine();
  private readonly log = new LineCount();
  private readonly tails: readonly JsonlTail[];
  private readonly note: JsonFile;
  private readonly workers: JsonFile;
  private readonly times = new StepTimes();
  private lastStep: LogRecord | undefined;
  private last: RunSummary | undefined;

  constructor({ id, name, folder }: FoundRun) {
    this.id = id;
    this.name = name;
    this.folder = folder;
    this.paths = locateRunFiles(folder);
    this.state = new JsonFile(join(folder, stateName));
    this.config = new JsonFile(this.paths.config);
    this.note = new JsonFile(this.paths.note);
    this.workers = new JsonFile(this.paths.workers);
    this.tails = [
      new JsonlTail(this.paths.metrics, this.metrics),
      new JsonlTail(this.paths.samples, this.samples),
      new JsonlTail(this.paths.evaluations, this.evaluations),
      new JsonlTail(this.paths.log, this.log),
    ];
  }

  /** Undefined before the first update; the object changes only if its content does. */
  get summary(): RunSummary | undefined {
    return this.last;
  }

  get isLiving(): boolean {
    return this.last === undefined || isLiving(this.last.status);
  }

  /** Whether the state file has changed, such as when an ended run is resumed. */
  async hasNewState(): Promise<boolean> {
    const before = this.state.value;
    return (await this.state.read()) !== before;
  }

  /** Reads changes and returns the events for open pages; undefined if the run was deleted. Files that
   *  must not be read count as empty, and the summary's message names the first. */
  async update(): Promise<RunEvent[] | undefined> {
    const problems: string[] = [];
    const readOr = <T>(other: T, reading: Promise<T>): Promise<T> =>
      reading.catch((error: unknown) => {
        if (!(error instanceof UnusableFileError)) throw error;
        problems.push(error.summary);
        return other;
      });
    const state = await readState(this.folder, () => readOr({}, this.state.read()));
    if (state === undefined) return undefined;
    const isFirst = this.last === undefined;
    const changes = await Promise.all(this.tails.map((tail) => readOr('same', tail.update())));
    const added = this.metrics.take();
    const isReset = changes.includes('reset');
    await readOr(undefined, this.followSteps(isReset ? 'many' : added));
    const config = (await readOr({}, this.config.read())) ?? {};
    const { note } = (await readOr({}, this.note.read())) ?? {};
    const workers = await readOr({}, this.workers.read());
    const summary = this.describe(
      { ...state, message: problems[0] ?? state.message },
      { config, note: typeof note === 'string' ? note : '', workersAt: updateTime(workers) },
    );
    if (!isDeepStrictEqual(summary, this.last)) this.last = summary;
    if (isReset || (added === 'many' && !isFirst)) return [{ type: 'reset', run: this.id }];
    if (added === undefined || added === 'many') return [];
    return [{ type: 'metrics', run: this.id, data: added.columns }];
  }

  private async followSteps(added: NewMetrics): Promise<void> {
    if (added === undefined) return;
    const records = added === 'many' ? await readLastRecords(this.paths.metrics) : added.records;
    if (added === 'many') this.times.restart(records);
    else this.times.add(records);
    this.lastStep = records.at(-1);
  }

  private describe(
    state: ReadState,
    { config, ...rest }: { readonly config: JsonObject } & Pick<RunSummary, 'note' | 'workersAt'>,
  ): RunSummary {
    return {
      id: this.id,
      name: this.name,
      kind: kindOf(config),
      ...state,
      eta: this.estimateEnd(state),
      counts: {
        metrics: this.metrics.count,
        samples: this.samples.count,
        evaluations: this.evaluations.count,
        log: this.log.count,
      },
      results: { ...stepResults(this.lastStep), ...evaluationResults(this.evaluations.last) },
      ...rest,
    };
  }

  private estimateEnd({ status, step, totalSteps }: ReadState): number | null {
    const { seconds } = this.times;
    if (status !== 'running' || totalSteps === null || seconds === null) return null;
    return Math.max(0, totalSteps - step) * seconds;
  }
}

/** When `workers.json` was written; null if it is missing or of another version. */
function updateTime(workers: JsonObject | undefined): string | null {
  return workersStateSchema.safeParse(workers).data?.updatedAt ?? null;
}

/** Maximum number of rows in one event; the page loads more by itself. */
const MAX_EVENT_ROWS = 500;

/** Rows since the last call: none, some, or too many for an event. */
type NewMetrics =
  | undefined
  | 'many'
  | { readonly records: readonly LogRecord[]; readonly columns: MetricColumns };

/** Counts the lines of `metrics.jsonl` and collects new ones. */
class MetricFeed implements LineSink {
  private lines = 0;
  private isOpen = false;
  private newRecords: LogRecord[] = [];

  get count(): number {
    return this.lines;
  }

  add(bytes: Buffer): boolean {
    this.lines++;
    // Pages load the rows that were there at the start by themselves.
    if (!this.isOpen || this.newRecords.length > MAX_EVENT_ROWS) return true;
    const record = parseRecord(bytes);
    if (record !== undefined) this.newRecords.push(record);
    return record !== undefined;
  }

  clear(): void {
    this.lines = 0;
    this.newRecords = [];
  }

  /** The rows since the last call; the first call returns `many`. */
  take(): NewMetrics {
    const records = this.newRecords;
    if (!this.isOpen || records.length > MAX_EVENT_ROWS) {
      this.isOpen = true;
      this.newRecords = [];
      return 'many';
    }
    if (records.length === 0) return undefined;
    this.newRecords = [];
    const table = new MetricTable();
    for (const record of records) table.append(record);
    return { records, columns: { ...table.select({ points: MAX_EVENT_ROWS }), rows: this.lines } };
  }
}

/** The metrics of a step that lists of runs show. */
const listedMetrics = [
  'tools/calls',
  'objective/scores',
  'objective/kl',
  'train/loss',
  'train/accuracy',
];

function stepResults(record: LogRecord | undefined): Record<string, number> {
  const entries = listedMetrics.map((name) => [name, record?.[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}

function evaluationResults(record: LogRecord | undefined): Record<string, number> {
  return record === undefined ? {} : evaluationNumbers(record);
}

/** Counts the lines of a log. */
class LineCount implements LineSink {
  private lines = 0;

  get count(): number {
    return this.lines;
  }

  add(_bytes?: Buffer): boolean {
    this.lines++;
    return true;
  }

  clear(): void {
    this.lines = 0;
  }
}

/** Counts the lines of a log and parses the last one. */
class LastLine extends LineCount {
  private record: LogRecord | undefined;

  /** The last valid record; evaluations by people have none of the numbers that lists show. */
  get last(): LogRecord | undefined {
    return this.record;
  }

  override add(bytes: Buffer): boolean {
    const record = parseRecord(bytes);
    if (record !== undefined && !isHumanEvaluation(record)) this.record = record;
    super.add();
    return true;
  }

  override clear(): void {
    this.record = undefined;
    super.clear();
  }
}

/** Number of steps in the median. */
const RECENT = 20;

/** Median duration of a run's last steps. Durations come from the metrics, which use a monotonic clock;
 *  a step in which the machine slept is an outlier that the median ignores.
 *  @example the last steps took 2, 900 and 3 s  →  3 */
export class StepTimes {
  private recent: number[] = [];
  private middle: number | null = null;

  /** The median in seconds; null if unknown. */
  get seconds(): number | null {
    return this.middle;
  }

  /** Adds later steps. */
  add(records: readonly LogRecord[]): void {
    const times = records.slice(-RECENT).map(secondsOf).filter(isTime);
    this.recent = [...this.recent, ...times].slice(-RECENT);
    this.middle = this.recent.toSorted((a, b) => a - b)[this.recent.length >> 1] ?? null;
  }

  /** Replaces all steps. */
  restart(records: readonly LogRecord[]): void {
    this.recent = [];
    this.add(records);
  }
}

function secondsOf(record: LogRecord): number {
  const times = Object.entries(record).filter(([name]) => name.startsWith('timing/'));
  return times.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0);
}

/** A clock that was set back gives negative times. */
function isTime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds > 0;
}
