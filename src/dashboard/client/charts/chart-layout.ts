import type { Points, RunSeries } from './series.ts';

/** A chart: its title and the metrics that share its axis. */
export interface ChartSpec {
  readonly title: string;
  readonly metrics: readonly string[];
  /** Whether the metrics are parts of a whole, which are drawn on top of each other. */
  readonly isStacked?: boolean;
}

export interface ChartSection {
  readonly title: string;
  readonly charts: readonly ChartSpec[];
}

/** A metric's name, or the pattern of several. */
type Pattern = string | RegExp;

/** What belongs together, the most telling first. */
const layout: readonly (readonly [string, readonly (readonly [string, ...Pattern[]])[]])[] = [
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
    'Evaluation',
    [
      ['Validation reward', 'eval/reward', 'eval/greedy_reward', 'eval/best_of_n'],
      ['Win rate', 'eval/win_rate'],
      ['Validation KL', 'eval/kl'],
      ['Validation entropy', 'eval/entropy'],
      ['Validation length', 'eval/length'],
      ['Repetition', 'eval/repetition'],
      ['Validation explained variance', 'eval/explained_variance'],
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

/** Columns that are no metrics of their own: the axis, and the documents' names of others. */
const leftOut = new Set(['step', 'epoch', 'policy_loss', 'value_loss', 'kl_div', 'avg_reward']);

export const moreTitle = 'More';

/** The charts of runs that have these metrics; those that no chart asks for get one each in `More`.
 *  @example ['lr', 'objective/kl']  →  'Reward and KL' with objective/kl, 'More' with lr */
export function layOutCharts(names: Iterable<string>): ChartSection[] {
  const left = new Set([...names].filter((name) => !leftOut.has(name)));
  const sections = layout.map(([title, charts]) => ({
    title,
    charts: charts.flatMap(([chart, ...patterns]) => {
      const metrics = patterns.flatMap((pattern) => take(left, pattern));
      if (metrics.length === 0) return [];
      const isStacked = metrics.length > 1 && stacked.has(chart);
      return [{ title: chart, metrics, ...(isStacked && { isStacked }) }];
    }),
  }));
  const more = [...left].sort().map((name) => ({ title: name, metrics: [name] }));
  return [...sections, { title: moreTitle, charts: more }].filter(
    ({ charts }) => charts.length > 0,
  );
}

function take(left: Set<string>, pattern: Pattern): string[] {
  const taken = [...left].filter((name) =>
    typeof pattern === 'string' ? name === pattern : pattern.test(name),
  );
  for (const name of taken) left.delete(name);
  return taken;
}

/** A run that is drawn. */
export interface DrawnRun {
  readonly name: string;
  /** The place of its colour. */
  readonly colour: number;
  readonly series: RunSeries;
}

/** A line of a chart. */
export interface Line extends Points {
  /** In the legend. */
  readonly label: string;
  /** In exported files. */
  readonly name: string;
  readonly colour: number;
  /** 0 is a whole line, others are broken in ways of their own. */
  readonly dash: number;
  /** Whether it may be smoothed; evaluations are few, and means already. */
  readonly isNoisy: boolean;
}

/** The lines of a chart. Of one run each metric has a colour; of several each run has one, and the
 *  metrics differ in how the line is broken.
 *  @example runs a and b, metric kl  →  lines 'a' and 'b', both whole */
export function chartLines({ metrics }: ChartSpec, runs: readonly DrawnRun[]): Line[] {
  const areSeveral = runs.length > 1;
  return runs.flatMap((run) =>
    metrics.flatMap((metric, place): Line[] => {
      const points = run.series.get(metric);
      if (points === undefined) return [];
      const short = metrics.length > 1 ? `${shortName(metric)} · ${run.name}` : run.name;
      return [
        {
          ...points,
          label: areSeveral ? short : shortName(metric),
          name: areSeveral ? `${run.name} ${metric}` : metric,
          colour: areSeveral ? run.colour : place,
          dash: areSeveral ? place : 0,
          isNoisy: !metric.startsWith('eval/'),
        },
      ];
    }),
  );
}

/** A metric without what its chart's title says.
 *  @example 'rewards/length/mean'  →  'length', 'timing/score'  →  'score' */
function shortName(metric: string): string {
  return metric.replace(/^rewards\/(.+)\/mean$/, '$1').replace(/^(timing|completions)\//, '');
}
