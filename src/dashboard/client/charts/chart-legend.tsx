import { formatNumber } from '../format.ts';
import type { Line } from './chart-layout.ts';
import { type ChartView, colourCount, dashes } from './chart-view.ts';
import { nearestIndex } from './series.ts';

/** The lines of a chart with their numbers at the cursor, else their latest ones. */
export function ChartLegend({ lines, view }: { lines: readonly Line[]; view: ChartView }) {
  return (
    <ul class={lines.length > 3 ? 'chart-legend many' : 'chart-legend'}>
      {lines.map((line) => {
        const { step, value } = valueAt(line, view.cursor.value);
        return (
          <li
            key={line.name}
            title={step === undefined ? line.name : `${line.name} at step ${step}`}
          >
            <LineSwatch colour={line.colour} dash={line.dash} />
            <span class="chart-legend-label">{line.label}</span>
            <span class="chart-legend-value">{formatNumber(value)}</span>
          </li>
        );
      })}
    </ul>
  );
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
  const values = lines.map((line) => ({ label: line.label, ...valueAt(line, cursor) }));
  const steps = values.flatMap(({ step }) => step ?? []);
  const numbers = values.map(({ label, value }) => `${label} ${formatNumber(value)}`);
  return `step ${cursor ?? Math.max(0, ...steps)}: ${numbers.join(', ')}`;
}

function valueAt(line: Line, cursor: number | undefined) {
  const index = nearestIndex(line, cursor ?? Number.POSITIVE_INFINITY);
  return { step: line.steps[index], value: line.values[index] };
}
