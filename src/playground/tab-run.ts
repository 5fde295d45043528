import { computed, signal } from '@preact/signals';
import type {
  DashboardSource,
  MetricColumns,
  RunSummary,
  SampleRow,
  TokenColumns,
} from '../dashboard/api.ts';
import { collectSeries, type RunSeries } from '../dashboard/client/charts/series.ts';
import { appendRows } from '../dashboard/client/run-data.ts';
import { querySamples } from '../dashboard/sample-query.ts';
import type { TrainEvent } from '../web/index.ts';

type StepEvent = Extract<TrainEvent, { type: 'step' }>;

const noMetrics: MetricColumns = { steps: [], columns: {}, rows: 0 };

/** The metrics that the playground draws; a run has many more. */
const drawnMetrics: readonly string[] = ['objective/scores', 'objective/kl', 'objective/kl_coef'];

/** Number of samples that are kept; older ones lose their tokens and their row. */
const MAX_SAMPLES = 400;

/** The records of the run in this tab, in the form in which the dashboard reads those of a run folder. */
export class TabRun {
  readonly metrics = signal<MetricColumns>(noMetrics);
  readonly samples = signal<readonly SampleRow[]>([]);
  readonly step = computed(() => this.metrics.value.steps.at(-1) ?? 0);
  readonly series = computed((): RunSeries => {
    const all = collectSeries(this.metrics.value, []);
    return new Map([...all].filter(([name]) => drawnMetrics.includes(name)));
  });
  private readonly config: Readonly<Record<string, unknown>>;
  private readonly tokens = new Map<number, TokenColumns>();
  private count = 0;

  constructor(config: Readonly<Record<string, unknown>>) {
    this.config = config;
  }

  /** Adds the metrics and samples of a step. */
  add({ step, metrics, samples, tokens }: StepEvent): void {
    const columns = Object.entries(metrics).map(([name, value]) => [
      name,
      [Number.isFinite(value) ? value : null],
    ]);
    const row = { steps: [step], columns: Object.fromEntries(columns), rows: 1 };
    this.metrics.value = appendRows(this.metrics.value, row);
    const rows = samples.map((record): SampleRow => {
      const index = this.count++;
      const numbers = tokens.find(
        ({ promptIdx, sample }) => promptIdx === record.promptIdx && sample === record.sample,
      );
      if (numbers !== undefined) this.tokens.set(index, numbers);
      const { sourceScores = null, turns = null } = record;
      return { ...record, index, sourceScores, turns, hasTokens: numbers !== undefined };
    });
    const kept = [...this.samples.value, ...rows].slice(-MAX_SAMPLES);
    for (const index of this.tokens.keys()) {
      if (index < kept[0]!.index) this.tokens.delete(index);
    }
    this.samples.value = kept;
  }

  /** The run as the dashboard's pages read it. */
  readonly source: DashboardSource = {
    runs: async () => [this.summary.value],
    config: async () => this.config,
    metrics: async () => this.metrics.value,
    evaluations: async () => [],
    log: async () => [],
    workers: async () => null,
    // Older samples are dropped, so positions start at the first one that is left.
    samples: async (_run, { offset = 0, ...query }) => {
      const first = this.samples.value[0]?.index ?? 0;
      return querySamples(this.samples.value, { ...query, offset: Math.max(0, offset - first) });
    },
    tokens: async (_run, index) => {
      const columns = this.tokens.get(index);
      if (columns !== undefined) return columns;
      throw new RangeError(`Cannot show the tokens of sample ${index}: it is no longer in memory`);
    },
    live: undefined,
  };

  readonly summary = computed(
    (): RunSummary => ({
      ...{ id: 'tab', name: 'This tab', kind: 'ppo', status: 'running', step: this.step.value },
      ...{ totalSteps: null, startedAt: '', eta: null, message: null, phase: null, note: '' },
      counts: { metrics: this.step.value, samples: this.count, evaluations: 0, log: 0 },
      results: {},
      workersAt: null,
    }),
  );
}
