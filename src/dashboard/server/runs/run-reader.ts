import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { JsonlTail } from '../../../fs/index.ts';
import { locateRunFiles, type RunPaths } from '../../../run/run-folder.ts';
import { stateName } from '../../../run/run-state.ts';
import type { DashboardEvent, RunSummary } from '../../api.ts';
import { readLastRecords } from '../logs/read-records.ts';
import type { FoundRun } from './find-runs.ts';
import { JsonFile } from './json-file.ts';
import { type FreshMetrics, LineCount, MetricFeed } from './metric-feed.ts';
import { isLiving, kindOf, type ReadState, readState } from './read-state.ts';
import { StepTimes } from './step-times.ts';

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
