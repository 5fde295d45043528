import { useMemo } from 'preact/hooks';
import { formatColumn, formatNumber } from '../format.ts';
import type { Line } from './chart-layout.ts';
import { type ChartView, colourCount, dashes } from './chart-view.ts';
import { nearestIndex, smooth } from './series.ts';

/** The lines of a chart with their numbers at the cursor, else their latest ones. If the lines are
 *  smoothed, raw and smoothed numbers are in two columns. */
export function ChartLegend({ lines, view }: { lines: readonly Line[]; view: ChartView }) {
  const smoothing = view.smoothing.value;
  const smoothed = useMemo(
    () => lines.map((line) => smoothLine(line, smoothing)),
    [lines, smoothing],
  );
  const { step, rows } = legendRows(lines, { smoothed, cursor: view.cursor.value });
  const hasSteps = rows.some((row) => row.step !== step);
  const hasSmoothed = smoothed.some((values) => values !== undefined);
  const texts = formatRows(rows);
  return (
    <table class="chart-legend">
      <thead>
        <tr>
          <th scope="col">{step === undefined || hasSteps ? 'line' : `step ${step}`}</th>
          {hasSteps && (
            <th scope="col" class="chart-legend-step">
              step
            </th>
          )}
          <th scope="col">{hasSmoothed ? 'raw' : 'value'}</th>
          {hasSmoothed && <th scope="col">smoothed</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => (
          <tr
            key={line.name}
            title={
              rows[i]!.step === undefined ? line.name : `${line.name} at step ${rows[i]!.step}`
            }
          >
            <th scope="row">
              <LineSwatch colour={line.colour} dash={line.dash} />{' '}
              <span class="chart-legend-label">{line.label}</span>
            </th>
            {hasSteps && <td class="chart-legend-step">{rows[i]!.step ?? '–'}</td>}
            <td class="chart-legend-value">{texts[i]!.raw}</td>
            {hasSmoothed && <td>{smoothed[i] === undefined ? '' : texts[i]!.smoothed}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The smoothed numbers of a line; undefined if it is not smoothed. */
function smoothLine({ values, isNoisy }: Line, smoothing: number) {
  return isNoisy && smoothing > 0 ? smooth(values, smoothing) : undefined;
}

interface LegendRow {
  /** Undefined if the line has no number. */
  readonly step: number | undefined;
  readonly raw: number | null | undefined;
  readonly smoothed: number | null | undefined;
}

/** Raw and smoothed numbers with the same number of decimals, so that they can be compared.
 *  @example raw 0.5, smoothed 0.25  →  '0.50' and '0.25' */
export function formatRows(
  rows: readonly Pick<LegendRow, 'raw' | 'smoothed'>[],
): { readonly raw: string; readonly smoothed: string }[] {
  const texts = formatColumn(rows.flatMap(({ raw, smoothed }) => [raw, smoothed]));
  return rows.map((_, i) => ({ raw: texts[2 * i]!, smoothed: texts[2 * i + 1]! }));
}

/** The numbers of each line at the step nearest to the cursor, and the step of most of them: the
 *  cursor's, or the latest.
 *  @example kl [1, 3] at steps 1 and 2, smoothed [1, 2], no cursor  →  step 2, raw 3, smoothed 2 */
export function legendRows(
  lines: readonly Line[],
  {
    smoothed,
    cursor,
  }: {
    readonly smoothed: readonly (readonly (number | null)[] | undefined)[];
    readonly cursor: number | undefined;
  },
): { readonly step: number | undefined; readonly rows: readonly LegendRow[] } {
  const rows = lines.map((line, i): LegendRow => {
    const index = nearestIndex(line, cursor ?? Number.POSITIVE_INFINITY);
    return { step: line.steps[index], raw: line.values[index], smoothed: smoothed[i]?.[index] };
  });
  const steps = rows.flatMap(({ step }) => step ?? []);
  const step = cursor !== undefined && steps.includes(cursor) ? cursor : Math.max(...steps);
  return { step: steps.length === 0 ? undefined : step, rows };
}

/** A sample of a line as the chart draws it. */
export function LineSwatch({ colour, dash = 0 }: { colour: number; dash?: number }) {
  return (
    <svg class="line-swatch" viewBox="0 0 18 4" width="18" height="4" aria-hidden="true">
      <line
        x1="0"
        y1="2"
        x2="18"
        y2="2"
        stroke={`var(--series-${(colour % colourCount) + 1})`}
        stroke-width="2.5"
        stroke-dasharray={dashes[dash % dashes.length]!.map((part) => part * 0.75).join(' ')}
      />
    </svg>
  );
}

/** A chart's numbers as text, for screen readers.
 *  @example kl 0.5 at step 3  →  'step 3: kl 0.5' */
export function describeCursor(lines: readonly Line[], cursor: number | undefined): string {
  const { step, rows } = legendRows(lines, { smoothed: [], cursor });
  const numbers = rows.map(({ raw }, i) => `${lines[i]!.label} ${formatNumber(raw)}`);
  return `step ${cursor ?? step ?? 0}: ${numbers.join(', ')}`;
}
