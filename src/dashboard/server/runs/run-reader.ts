import { locateRunFiles } from '../../../run/run-folder.ts';
import type { DashboardEvent, RunSummary } from '../../api.ts';
import { JsonlTail } from '../logs/jsonl-tail.ts';
import { readLastRecords } from '../logs/read-records.ts';
import type { FoundRun } from './find-runs.ts';
import { LineCount, MetricFeed } from './metric-feed.ts';
import { isLiving, kindOf, type ReadState, readJson, readState } from './read-state.ts';
import { stepSeconds } from './step-seconds.ts';

type RunEvent = Extract<DashboardEvent, { type: 'metrics' | 'reset' }>;

/** Keeps the summary of one run up to date. Logs are counted and not held: see `RunTables`. */
export class RunReader {
  readonly folder: string;
  readonly id: string;
  /** May change with the names of other runs. */
  name: string;
  private readonly metrics = new MetricFeed();
  private readonly samples = new LineCount();
  private readonly evaluations = new LineCount();
  private readonly log = new LineCount();
  private readonly tails: readonly JsonlTail[];
  private secondsPerStep: number | null = null;
  private last: RunSummary | undefined;

  constructor({ id, name, folder }: FoundRun) {
    this.id = id;
    this.name = name;
    this.folder = folder;
    const paths = locateRunFiles(folder);
    this.tails = [
      new JsonlTail(paths.metrics, this.metrics),
      new JsonlTail(paths.samples, this.samples),
      new JsonlTail(paths.evaluations, this.evaluations),
      new JsonlTail(paths.log, this.log),
    ];
  }

  /** Undefined before the first update. */
  get summary(): RunSummary | undefined {
    return this.last;
  }

  get isLiving(): boolean {
    return this.last === undefined || isLiving(this.last.status);
  }

  /** Reads what is new, and says what of it pages must be told; undefined where the run is gone. */
  async update(): Promise<RunEvent[] | undefined> {
    const state = await readState(this.folder);
    if (state === undefined) return undefined;
    const changes = await Promise.all(this.tails.map((tail) => tail.update()));
    const paths = locateRunFiles(this.folder);
    const config = (await readJson(paths.config)) ?? {};
    if (changes[0] !== 'same') {
      this.secondsPerStep = stepSeconds(await readLastRecords(paths.metrics));
    }
    this.last = this.describe(state, config);
    const rows = this.metrics.take();
    if (rows === 'many' || changes.includes('reset')) return [{ type: 'reset', run: this.id }];
    return rows === undefined ? [] : [{ type: 'metrics', run: this.id, data: rows }];
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
    if (status !== 'running' || totalSteps === null || this.secondsPerStep === null) return null;
    return Math.max(0, totalSteps - step) * this.secondsPerStep;
  }
}
