import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { JsonlTail, type LineSink } from '../../../fs/index.ts';
import { locateRunFiles, type RunPaths } from '../../../run/run-folder.ts';
import { stateName } from '../../../run/run-state.ts';
import type { DashboardEvent, MetricColumns, RunSummary } from '../../api.ts';
import { type LogRecord, parseRecord, readLastRecords } from '../logs/log-records.ts';
import { MetricTable } from '../logs/metric-table.ts';
import type { FoundRun } from './find-runs.ts';
import { isLiving, JsonFile, kindOf, type ReadState, readState } from './read-state.ts';

type RunEvent = Extract<DashboardEvent, { type: 'metrics' | 'reset' }>;

/** Keeps the summary of one run up to date. Logs are counted and not held: see `RunTables`. */
export class RunReader {
  readonly folder: string;
  readonly id: string;
  /** May change with the names of other runs. */
  name: string;
  private readonly paths: RunPaths;
  private readonly state: JsonFile;
  private readonly config: JsonFile;
  private readonly metrics = new MetricFeed();
  private readonly samples = new LineCount();
  private readonly evaluations = new LineCount();
  private readonly log = new LineCount();
  private readonly tails: readonly JsonlTail[];
  private readonly times = new StepTimes();
  private last: RunSummary | undefined;

  constructor({ id, name, folder }: FoundRun) {
    this.id = id;
    this.name = name;
    this.folder = folder;
    this.paths = locateRunFiles(folder);
    this.state = new JsonFile(join(folder, stateName));
    this.config = new JsonFile(this.paths.config);
    this.tails = [
      new JsonlTail(this.paths.metrics, this.metrics),
      new JsonlTail(this.paths.samples, this.samples),
      new JsonlTail(this.paths.evaluations, this.evaluations),
      new JsonlTail(this.paths.log, this.log),
    ];
  }

  /** Undefined before the first update; another object where, and only where, something changed. */
  get summary(): RunSummary | undefined {
    return this.last;
  }

  get isLiving(): boolean {
    return this.last === undefined || isLiving(this.last.status);
  }

  /** Whether the run has a new state: so it is where one that has ended goes on. */
  async hasNewState(): Promise<boolean> {
    const before = this.state.value;
    return (await this.state.read()) !== before;
  }

  /** Reads what is new, and says what of it pages must be told; undefined where the run is gone. */
  async update(): Promise<RunEvent[] | undefined> {
    const state = await readState(this.folder, () => this.state.read());
    if (state === undefined) return undefined;
    const isFirst = this.last === undefined;
    const changes = await Promise.all(this.tails.map((tail) => tail.update()));
    const fresh = this.metrics.take();
    const isReset = changes.includes('reset');
    await this.followTimes(isReset ? 'many' : fresh);
    const summary = this.describe(state, (await this.config.read()) ?? {});
    if (!isDeepStrictEqual(summary, this.last)) this.last = summary;
    if (isReset || (fresh === 'many' && !isFirst)) return [{ type: 'reset', run: this.id }];
    if (fresh === undefined || fresh === 'many') return [];
    return [{ type: 'metrics', run: this.id, data: fresh.columns }];
  }

  private async followTimes(fresh: FreshMetrics): Promise<void> {
    if (fresh === 'many') this.times.restart(await readLastRecords(this.paths.metrics));
    else if (fresh !== undefined) this.times.add(fresh.records);
  }

  private describe(state: ReadState, config: Readonly<Record<string, unknown>>): RunSummary {
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
    };
  }

  private estimateEnd({ status, step, totalSteps }: ReadState): number | null {
    const { seconds } = this.times;
    if (status !== 'running' || totalSteps === null || seconds === null) return null;
    return Math.max(0, totalSteps - step) * seconds;
  }
}

/** Rows that one event may carry; the page loads more than that by itself. */
const MOST_ROWS = 500;

/** What came since it was asked for last: nothing, rows, or more rows than are to be sent. */
export type FreshMetrics =
  | undefined
  | 'many'
  | { readonly records: readonly LogRecord[]; readonly columns: MetricColumns };

/** Counts the lines of `metrics.jsonl`, and has those that came since it was asked last. */
export class MetricFeed implements LineSink {
  private lines = 0;
  private isOpen = false;
  private fresh: LogRecord[] = [];

  get count(): number {
    return this.lines;
  }

  add(bytes: Buffer): boolean {
    this.lines++;
    // What was there at the start is the history that pages ask for.
    if (!this.isOpen || this.fresh.length > MOST_ROWS) return true;
    const record = parseRecord(bytes);
    if (record !== undefined) this.fresh.push(record);
    return record !== undefined;
  }

  clear(): void {
    this.lines = 0;
    this.fresh = [];
  }

  /** The rows since the last call; those of before the first one are `many`. */
  take(): FreshMetrics {
    const records = this.fresh;
    if (!this.isOpen || records.length > MOST_ROWS) {
      this.isOpen = true;
      this.fresh = [];
      return 'many';
    }
    if (records.length === 0) return undefined;
    this.fresh = [];
    const table = new MetricTable();
    for (const record of records) table.append(record);
    return { records, columns: { ...table.select({ points: MOST_ROWS }), rows: this.lines } };
  }
}

/** Counts the lines of a log. */
export class LineCount implements LineSink {
  private lines = 0;

  get count(): number {
    return this.lines;
  }

  add(): boolean {
    this.lines++;
    return true;
  }

  clear(): void {
    this.lines = 0;
  }
}

/** Steps whose times are looked at. */
const RECENT = 20;

/** How long a run's last steps took. Times come from the metrics, where they are measured without the
 *  clock of the day, so that its jumps change nothing; a step in which the machine slept is an
 *  outlier that a median passes over.
 *  @example the last steps took 2, 900 and 3 s  →  3 */
export class StepTimes {
  private recent: number[] = [];
  private middle: number | null = null;

  /** The median, in seconds; null where no time is known. */
  get seconds(): number | null {
    return this.middle;
  }

  /** Takes steps that come after those it has. */
  add(records: readonly LogRecord[]): void {
    const times = records.slice(-RECENT).map(secondsOf).filter(isTime);
    this.recent = [...this.recent, ...times].slice(-RECENT);
    this.middle = this.recent.toSorted((a, b) => a - b)[this.recent.length >> 1] ?? null;
  }

  /** Takes steps in place of all before. */
  restart(records: readonly LogRecord[]): void {
    this.recent = [];
    this.add(records);
  }
}

function secondsOf(record: LogRecord): number {
  const times = Object.entries(record).filter(([name]) => name.startsWith('timing/'));
  return times.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0);
}

/** A clock that goes back gives times below zero. */
function isTime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds > 0;
}
