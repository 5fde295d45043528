import type {
  EvaluationRow,
  LogRow,
  MetricColumns,
  RunSummary,
  SampleRow,
  TokenColumns,
} from '../api.ts';

/** All that a report knows of its run: the JSON in its element of id `proximal-report`. */
export interface ReportData {
  /** `counts.samples` is of those in the report. */
  readonly run: RunSummary;
  /** The run's config.json; of absolute paths only the last part. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Thinned out. */
  readonly metrics: MetricColumns;
  readonly evaluations: readonly EvaluationRow[];
  readonly log: readonly LogRow[];
  /** Some of the run's samples, in the file's order; `index` is still the place in the file. */
  readonly samples: readonly SampleRow[];
  /** Of the samples that have tokens, by their `index`. */
  readonly tokens: Readonly<Record<number, TokenColumns>>;
}
