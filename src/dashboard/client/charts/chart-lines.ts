import type { Points } from './align-series.ts';
import type { ChartSpec } from './chart-layout.ts';
import type { RunSeries } from './run-series.ts';

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
