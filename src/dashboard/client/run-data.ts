import { computed, signal } from '@preact/signals';
import type {
  DashboardSource,
  EvaluationRow,
  LogRow,
  MetricColumns,
  RunSummary,
  WorkersState,
} from '../api.ts';
import { collectSeries } from './charts/series.ts';

type Part = 'metrics' | 'evaluations' | 'log' | 'config' | 'workers';

/** The data of one run: loaded when it is first shown, then updated by events. */
export class RunData {
  readonly metrics = signal<MetricColumns | undefined>(undefined);
  readonly evaluations = signal<readonly EvaluationRow[]>([]);
  readonly log = signal<readonly LogRow[]>([]);
  readonly config = signal<Readonly<Record<string, unknown>>>({});
  /** Null if the run sends no jobs to workers. */
  readonly workers = signal<WorkersState | null>(null);
  /** The series for the charts. */
  readonly series = computed(() =>
    collectSeries(
      this.metrics.value ?? { steps: [], columns: {}, rows: 0 },
      this.evaluations.value,
    ),
  );
  /** Why something could not be loaded. */
  readonly error = signal<string | undefined>(undefined);

  private readonly readers: Readonly<Record<Part, () => Promise<void>>>;
  /** Rows that arrive while metrics are being loaded; undefined at other times. */
  private early: MetricColumns[] | undefined;
  private seen: { evaluations: number; log: number } | undefined;

  constructor(source: DashboardSource, id: string) {
    this.readers = {
      metrics: async () => {
        const early: MetricColumns[] = [];
        this.early = early;
        try {
          const loaded = thinRows(await source.metrics(id), maxRows);
          // If another load has started meanwhile, this result is outdated.
          if (this.early === early) this.metrics.value = early.reduce(appendRows, loaded);
        } finally {
          if (this.early === early) this.early = undefined;
        }
      },
      evaluations: async () => {
        this.evaluations.value = await source.evaluations(id);
      },
      log: async () => {
        this.log.value = await source.log(id);
      },
      config: async () => {
        this.config.value = await source.config(id);
      },
      workers: async () => {
        this.workers.value = await source.workers(id);
      },
    };
    this.load();
  }

  /** Loads everything again. */
  load(): void {
    this.error.value = undefined;
    for (const part of Object.keys(this.readers) as Part[]) void this.read(part);
  }

  /** Appends new rows of metrics. */
  append(rows: MetricColumns): void {
    if (this.early !== undefined) this.early.push(rows);
    else if (this.metrics.value !== undefined) {
      this.metrics.value = appendRows(this.metrics.value, rows);
    }
  }

  /** Reloads the evaluations and the log if the run has more of them, and the workers if they changed. */
  follow({ counts: { evaluations, log }, workersAt }: RunSummary): void {
    if (this.seen !== undefined && this.seen.evaluations !== evaluations) {
      void this.read('evaluations');
    }
    if (this.seen !== undefined && this.seen.log !== log) void this.read('log');
    this.seen = { evaluations, log };
    if (workersAt !== (this.workers.value?.updatedAt ?? null)) void this.read('workers');
  }

  private async read(part: Part): Promise<void> {
    try {
      await this.readers[part]();
    } catch (error) {
      this.error.value =
        error instanceof Error ? error.message : `Cannot read the ${part}: ${String(error)}`;
    }
  }
}

/** Number of rows that the page holds per run; a chart has fewer pixels. */
export const maxRows = 3000;

/** Appends new rows. Known steps are skipped, since a reconnected stream may repeat them.
 *  @example steps [1, 2] and [2, 3]  →  steps [1, 2, 3] */
export function appendRows(old: MetricColumns, added: MetricColumns): MetricColumns {
  const last = old.steps.at(-1) ?? -Infinity;
  const first = added.steps.findIndex((step) => step > last);
  if (first < 0) return old;
  const steps = [...old.steps, ...added.steps.slice(first)];
  const names = new Set([...Object.keys(old.columns), ...Object.keys(added.columns)]);
  const columns = Object.fromEntries(
    [...names].map((name) => [
      name,
      [
        ...(old.columns[name] ?? nulls(old.steps.length)),
        ...(added.columns[name]?.slice(first) ?? nulls(added.steps.length - first)),
      ],
    ]),
  );
  const rows = Math.max(added.rows, old.rows + added.steps.length - first);
  return thinRows({ steps, columns, rows }, maxRows);
}

/** Thins rows evenly over the steps, keeping the first and the last. The result has about half of
 *  `max` rows, so that a growing run is not thinned at every row.
 *  @example steps [0, 1, 2, 3, 4], max 4  →  steps [0, 2, 4] */
export function thinRows(data: MetricColumns, max: number): MetricColumns {
  const { steps } = data;
  if (steps.length <= max) return data;
  const width = (steps.at(-1)! - steps[0]!) / Math.floor(max / 2);
  const kept: number[] = [0];
  for (let i = 1; i < steps.length; i++) {
    if (steps[i]! - steps[kept.at(-1)!]! >= width || i === steps.length - 1) kept.push(i);
  }
  const pick = <T>(values: readonly T[]): T[] => kept.map((i) => values[i]!);
  const columns = Object.entries(data.columns).map(([name, values]) => [name, pick(values)]);
  return { steps: pick(steps), columns: Object.fromEntries(columns), rows: data.rows };
}

function nulls(length: number): null[] {
  return new Array<null>(length).fill(null);
}
