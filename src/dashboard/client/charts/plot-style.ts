import { resolveColour } from '../shell/theme.ts';
import { colourCount } from './assign-colours.ts';

/** Colours of a chart for the present scheme. */
export interface PlotStyle {
  readonly text: string;
  readonly muted: string;
  /** Of the grid. */
  readonly faint: string;
  readonly surface: string;
  readonly series: readonly string[];
}

export const plotFont = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** How lines of the same colour are told apart. */
export const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

export function readPlotStyle(): PlotStyle {
  return {
    text: resolveColour('--text'),
    muted: resolveColour('--muted'),
    faint: resolveColour('--raised'),
    surface: resolveColour('--surface'),
    series: Array.from({ length: colourCount }, (_, i) => resolveColour(`--series-${i + 1}`)),
  };
}
