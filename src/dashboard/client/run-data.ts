import { computed, signal } from '@preact/signals';
import type { DashboardSource, EvaluationRow, LogRow, MetricColumns, RunSummary } from '../api.ts';
import { appendRows, maxRows, thinRows } from './charts/metric-rows.ts';
import { collectSeries } from './charts/run-series.ts';

type Part = 'metrics' | 'evaluations' | 'log' | 'config';

/** What the page knows of one run, read when it is first shown and kept true by events. */
export class RunData {
  readonly metrics = signal<MetricColumns | undefined>(undefined);
  readonly evaluations = signal<readonly EvaluationRow[]>([]);
  readonly log = signal<readonly LogRow[]>([]);
  readonly config = signal<Readonly<Record<string, unknown>>>({});
  /** What charts can draw of it. */
  readonly series = computed(() =>
    collectSeries(
      this.metrics.value ?? { steps: [], columns: {}, rows: 0 },
      this.evaluations.value,
    ),
  );
  /** Why something could not be read. */
  readonly error = signal<string | undefined>(undefined);

  private readonly readers: Readonly<Record<Part, () => Promise<void>>>;
  /** Rows that come while metrics are being read; undefined where they are not. */
  private early: MetricColumns[] | undefined;
  private seen: { evaluations: number; log: number } | undefined;

  constructor(source: DashboardSource, id: string) {
    this.readers = {
      metrics: async () => {
        const early: MetricColumns[] = [];
        this.early = early;
        try {
          const loaded = thinRows(await source.metrics(id), maxRows);
          // Where they are being read again by now, these are old.
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
    };
    this.load();
  }

  /** Reads all anew. */
  load(): void {
    this.error.value = undefined;
    for (const part of Object.keys(this.readers) as Part[]) void this.read(part);
  }

  /** Takes new rows of metrics. */
  append(rows: MetricColumns): void {
    if (this.early !== undefined) this.early.push(rows);
    else if (this.metrics.value !== undefined) {
      this.metrics.value = appendRows(this.metrics.value, rows);
    }
  }

  /** Reads the evaluations and the log again where the run has told of more. */
  follow({ counts: { evaluations, log } }: RunSummary): void {
    if (this.seen !== undefined && this.seen.evaluations !== evaluations) {
      void this.read('evaluations');
    }
    if (this.seen !== undefined && this.seen.log !== log) void this.read('log');
    this.seen = { evaluations, log };
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
