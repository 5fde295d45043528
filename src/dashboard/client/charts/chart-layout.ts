import { metricName } from './metric-names.ts';
import type { Points, RunSeries } from './series.ts';

/** A chart: its title and the metrics on its axis. */
export interface ChartSpec {
  readonly title: string;
  readonly metrics: readonly string[];
  /** Whether the metrics are parts of a whole, drawn as a stack. */
  readonly isStacked?: boolean;
}

export interface ChartSection {
  readonly title: string;
  readonly charts: readonly ChartSpec[];
}

/** The name of a metric, or a pattern of names. */
type Pattern = string | RegExp;

/** The charts by section, the most important first: what held-out prompts say about the run. */
const layout: readonly (readonly [string, readonly (readonly [string, ...Pattern[]])[]])[] = [
  [
    'Evaluation',
    [
      ['Validation reward', 'eval/reward', 'eval/greedy_reward', 'eval/best_of_n'],
      ['Win rate', 'eval/win_rate'],
      ['Validation reward by source', /^eval\/rewards\/.+\/mean$/],
      ['Finished responses', /^eval\/finished/],
      ['Validation KL', 'eval/kl'],
      ['Validation entropy', 'eval/entropy'],
      ['Validation length', 'eval/length'],
      ['Repetition', 'eval/repetition'],
      ['Validation explained variance', 'eval/explained_variance'],
    ],
  ],
  [
    'Reward and KL',
    [
      ['Reward', 'objective/scores', 'objective/rlhf_reward'],
      ['Reward by source', /^rewards\/.+\/mean$/],
      ['KL to the reference', 'objective/kl'],
      ['KL coefficient', 'objective/kl_coef'],
      ['Entropy', 'policy/entropy_avg'],
    ],
  ],
  [
    'Learning',
    [
      ['Loss', 'train/loss', 'eval/loss'],
      ['Accuracy', 'train/accuracy', 'eval/accuracy'],
      ['Margin', 'train/margin', 'eval/margin'],
      ['Perplexity', 'eval/perplexity'],
      ['Policy loss', 'loss/policy_avg'],
      ['Value loss', 'loss/value_avg'],
      ['Ratio', 'val/ratio'],
      ['Variance of the ratio', 'val/ratio_var'],
      ['Clip fraction', 'policy/clipfrac_avg', 'val/clipfrac_avg'],
      ['Explained variance', 'ppo/val/var_explained'],
    ],
  ],
  [
    'Responses, speed and memory',
    [
      ['Length', /^completions\/(mean|min|max)_length$/],
      ['Speed', 'perf/tokens_per_second'],
      ['Time by phase', /^timing\//],
      ['Memory', 'perf/rss_mb'],
    ],
  ],
];

/** Charts whose metrics are parts of a whole. */
const stacked = new Set(['Time by phase']);

/** Columns without a chart: the axis, and short names for metrics that have one. */
const hiddenColumns = new Set([
  'step',
  'epoch',
  'policy_loss',
  'value_loss',
  'kl_div',
  'avg_reward',
]);

export const moreTitle = 'More';

/** The charts for these metrics. A metric that is in no chart of the layout gets its own in `More`.
 *  @example ['lr', 'objective/kl']  →  'Reward and KL' with objective/kl, 'More' with lr */
export function layOutCharts(names: Iterable<string>): ChartSection[] {
  const remaining = new Set([...names].filter((name) => !hiddenColumns.has(name)));
  const sections = layout.map(([title, charts]) => ({
    title,
    charts: charts.flatMap(([chart, ...patterns]) => {
      const metrics = patterns.flatMap((pattern) => takeMatching(remaining, pattern));
      if (metrics.length === 0) return [];
      const isStacked = metrics.length > 1 && stacked.has(chart);
      return [{ title: chart, metrics, ...(isStacked && { isStacked }) }];
    }),
  }));
  const more = [...remaining].sort().map((name) => ({ title: name, metrics: [name] }));
  return [...sections, { title: moreTitle, charts: more }].filter(
    ({ charts }) => charts.length > 0,
  );
}

/** Removes and returns the names that match a pattern. */
function takeMatching(remaining: Set<string>, pattern: Pattern): string[] {
  const matching = [...remaining].filter((name) =>
    typeof pattern === 'string' ? name === pattern : pattern.test(name),
  );
  for (const name of matching) remaining.delete(name);
  return matching;
}

/** A run that is drawn. */
export interface DrawnRun {
  readonly name: string;
  /** Index of its colour. */
  readonly colour: number;
  readonly series: RunSeries;
}

/** A line of a chart. */
export interface Line extends Points {
  /** Name in the legend. */
  readonly label: string;
  /** Name in exported files. */
  readonly name: string;
  readonly colour: number;
  /** Index of its dash pattern; 0 is a solid line. */
  readonly dash: number;
  /** Whether it may be smoothed; evaluations are few, and already averages. */
  readonly isNoisy: boolean;
}

/** The lines of a chart. With one run, each metric has its own colour. With several, each run has its
 *  own colour and each metric its own dash pattern.
 *  @example runs a and b, metric kl  →  lines 'a' and 'b', both solid */
export function chartLines({ metrics }: ChartSpec, runs: readonly DrawnRun[]): Line[] {
  const hasSeveralRuns = runs.length > 1;
  return runs.flatMap((run) =>
    metrics.flatMap((metric, index): Line[] => {
      const points = run.series.get(metric);
      if (points === undefined) return [];
      const short = metrics.length > 1 ? `${metricName(metric)} · ${run.name}` : run.name;
      return [
        {
          ...points,
          label: hasSeveralRuns ? short : metricName(metric),
          name: hasSeveralRuns ? `${run.name} ${metric}` : metric,
          colour: hasSeveralRuns ? run.colour : index,
          dash: hasSeveralRuns ? index : 0,
          isNoisy: !metric.startsWith('eval/'),
        },
      ];
    }),
  );
}
