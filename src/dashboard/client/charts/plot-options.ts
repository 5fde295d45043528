import uPlot from 'uplot';
import { formatTick } from '../format.ts';
import { resolveColour } from '../shell/theme.ts';
import type { Line } from './chart-layout.ts';
import { colourCount, dashes, plotFont } from './chart-view.ts';

/** The shape of a plot; if it changes, the plot is rebuilt. */
export interface PlotShape {
  readonly lines: readonly Line[];
  /** Whether raw numbers are drawn faintly behind smoothed ones. */
  readonly isSmoothed: boolean;
  readonly isLog: boolean;
  /** Whether lines are stacked, with their areas filled. */
  readonly isStacked: boolean;
  /** Unit of the numbers; empty if they have none. */
  readonly unit: string;
  readonly style: PlotStyle;
}

interface PlotWiring {
  readonly size: { readonly width: number; readonly height: number };
  /** The visible steps. */
  readonly range: () => uPlot.Range.MinMax;
  readonly onCursor: (plot: uPlot) => void;
  readonly onSelect: (plot: uPlot) => void;
  readonly onReset: () => void;
}

/** Options of a plot whose columns are the steps, the raw numbers of each line, then the smoothed
 *  ones. A stacked plot has the steps and one column per line. */
export function plotOptions(shape: PlotShape, wiring: PlotWiring): uPlot.Options {
  const { lines, isStacked } = shape;
  const isSmoothed = shape.isSmoothed && !isStacked;
  const raw = lines.map((line) => toSeries(line, { shape, isFaint: isSmoothed }));
  const smoothed = isSmoothed ? lines.map((line) => toSeries(line, { shape, isFaint: false })) : [];
  return {
    ...wiring.size,
    padding: [8, 14, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, range: wiring.range }, y: yScale(shape) },
    axes: axes(shape),
    series: [{}, ...raw, ...smoothed],
    ...(isStacked && { bands: lines.slice(1).map((line, i) => toBand(line, { i, shape })) }),
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { size: 6, width: 0, show: cursorPoint(isSmoothed ? lines.length : 0) },
      bind: {
        dblclick: () => () => {
          wiring.onReset();
          return null;
        },
      },
    },
    hooks: { setCursor: [wiring.onCursor], setSelect: [wiring.onSelect] },
  };
}

function toSeries(
  line: Line,
  { shape, isFaint }: { shape: PlotShape; isFaint: boolean },
): uPlot.Series {
  const { dash, steps } = line;
  const stroke = strokeFor(line, shape);
  return {
    stroke,
    ...(shape.isStacked && line === shape.lines[0] && { fill: fade(stroke) }),
    width: isFaint ? 1 : 1.5,
    alpha: isFaint ? 0.3 : 1,
    dash: isFaint ? [] : [...dashes[dash % dashes.length]!],
    points: { show: !isFaint && hasPoints(steps), size: 5, fill: stroke },
  };
}

/** The area between a line of a stack and the one below it. */
function toBand(line: Line, { i, shape }: { i: number; shape: PlotShape }): uPlot.Band {
  return { series: [i + 2, i + 1], fill: fade(strokeFor(line, shape)) };
}

function strokeFor({ colour }: Line, { style: { series } }: PlotShape): string {
  return series[colour % series.length]!;
}

/** @example 'rgb(1, 2, 3)'  →  'rgba(1, 2, 3, 0.3)' */
function fade(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.3)');
}

/** Whether there are so few numbers that each gets a point. */
export function hasPoints(steps: readonly number[]): boolean {
  return steps.length < 12;
}

/** Adds a margin around the numbers; from 0 to 1 if all are 0. */
function linearRange(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null || (min === 0 && max === 0)) return [0, 1];
  return uPlot.rangeNum(min, max, 0.1, true);
}

/** If not all numbers are positive, a log scale is linear around 0 and logarithmic beyond. */
export function yScale({ isLog, isStacked, lines }: PlotShape): uPlot.Scale {
  // Areas are comparable only if the axis starts at 0.
  if (isStacked) return { range: (_, __, max) => [0, max === 0 ? 1 : 1.05 * max] };
  if (!isLog) return { range: linearRange };
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  if (values.every((value) => value > 0)) return { distr: 3 };
  const sizes = values.map(Math.abs).filter((size) => size > 0);
  const middle = sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? 1;
  return { distr: 4, asinh: 10 ** Math.floor(Math.log10(middle)) };
}

/** The horizontal axis is labelled with `step`, the vertical one with the unit. */
function axes({ unit, style: { muted, faint } }: PlotShape): uPlot.Axis[] {
  const common = {
    stroke: muted,
    font: `11px ${plotFont}`,
    labelFont: `11px ${plotFont}`,
    labelSize: 15,
    labelGap: 0,
    grid: { stroke: faint, width: 1 },
    ticks: { show: false },
    values: (_: uPlot, splits: number[]) =>
      splits.map((split) => (split === null ? null : formatTick(split))),
  };
  // Ticks are at whole steps.
  const incrs = [1, 2, 5].flatMap((one) =>
    Array.from({ length: 9 }, (_, power) => one * 10 ** power),
  );
  return [
    { ...common, label: 'step', size: 22, gap: 4, space: 60, incrs: incrs.sort((a, b) => a - b) },
    { ...common, ...(unit !== '' && { label: unit }), size: 46, gap: 6, space: 32 },
  ];
}

/** Draws points under the cursor on all but the faint lines. */
function cursorPoint(faint: number): uPlot.Cursor.Points.Show {
  return (plot, series) => {
    const point = document.createElement('div');
    if (series <= faint) point.style.display = 'none';
    else point.style.background = plot.series[series]!.stroke as string;
    return point;
  };
}

/** Colours of a chart in the current theme. */
export interface PlotStyle {
  readonly text: string;
  readonly muted: string;
  /** Colour of the grid. */
  readonly faint: string;
  readonly surface: string;
  readonly series: readonly string[];
}

export function readPlotStyle(): PlotStyle {
  return {
    text: resolveColour('--text'),
    muted: resolveColour('--muted'),
    faint: resolveColour('--raised'),
    surface: resolveColour('--surface'),
    series: Array.from({ length: colourCount }, (_, i) => resolveColour(`--series-${i + 1}`)),
  };
}
