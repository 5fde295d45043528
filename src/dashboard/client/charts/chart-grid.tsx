import './chart-grid.css';
import { useId, useMemo, useState } from 'preact/hooks';
import { isDark } from '../shell/theme.ts';
import { ChartCard } from './chart-card.tsx';
import { type ChartSection, type DrawnRun, layOutCharts, moreTitle } from './chart-layout.ts';
import type { ChartView, StepRange } from './chart-view.ts';
import { readPlotStyle } from './plot-options.ts';

/** All charts of the drawn runs. */
export function ChartGrid({ runs, view }: { runs: readonly DrawnRun[]; view: ChartView }) {
  const names = [...new Set(runs.flatMap(({ series }) => [...series.keys()]))];
  const sections = useMemo(() => layOutCharts(names), [names.join('\n')]);
  const domain = useMemo(() => stepRange(runs), [runs]);
  const style = useMemo(readPlotStyle, [isDark.value]);
  return (
    <div class="charts">
      <ChartToolbar view={view} />
      {sections.map((section) => (
        <Section key={section.title} section={section}>
          {(spec) => (
            <ChartCard
              key={spec.title}
              spec={spec}
              runs={runs}
              domain={domain}
              view={view}
              style={style}
            />
          )}
        </Section>
      ))}
    </div>
  );
}

interface SectionProps {
  readonly section: ChartSection;
  readonly children: (spec: ChartSection['charts'][number]) => preact.JSX.Element;
}

/** Charts under a heading; the section `More` starts folded. */
function Section({ section: { title, charts }, children }: SectionProps) {
  const [isOpen, setOpen] = useState(title !== moreTitle);
  return (
    <details
      class="chart-section"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
        <span class="count">{charts.length}</span>
      </summary>
      {isOpen && <div class="chart-grid">{charts.map(children)}</div>}
    </details>
  );
}

/** The interval from the first to the last step of all runs. */
function stepRange(runs: readonly DrawnRun[]): StepRange {
  const lists = runs.flatMap(({ series }) => [...series.values()].map(({ steps }) => steps));
  const min = Math.min(...lists.map((steps) => steps[0] ?? Infinity));
  const max = Math.max(...lists.map((steps) => steps.at(-1) ?? -Infinity));
  if (min > max) return { min: 0, max: 1 };
  return min === max ? { min: min - 1, max: max + 1 } : { min, max };
}

/** Settings of all charts: smoothing, scale, zoom, and the step under the cursor. */
function ChartToolbar({ view }: { view: ChartView }) {
  const { isLog, range, cursor } = view;
  return (
    <fieldset class="chart-toolbar" aria-label="All charts">
      <Smoothing smoothing={view.smoothing} />
      <label>
        <input
          type="checkbox"
          checked={isLog.value}
          onChange={(event) => {
            isLog.value = event.currentTarget.checked;
          }}
        />
        Log scale
      </label>
      {range.value !== undefined && (
        <button
          type="button"
          onClick={() => {
            range.value = undefined;
          }}
        >
          Reset zoom
        </button>
      )}
      <span class="cursor-step">
        {cursor.value === undefined ? (
          <span class="hint">
            {view.smoothing.value > 0 && 'faint lines: raw, strong lines: smoothed · '}drag to zoom,
            double-click to reset
          </span>
        ) : (
          `step ${cursor.value}`
        )}
      </span>
    </fieldset>
  );
}

function Smoothing({ smoothing }: Pick<ChartView, 'smoothing'>) {
  const id = useId();
  return (
    <span class="smoothing">
      <label for={id}>Smoothing</label>
      <input
        id={id}
        type="range"
        min="0"
        max="0.99"
        step="0.01"
        value={smoothing.value}
        onInput={(event) => {
          smoothing.value = Number(event.currentTarget.value);
        }}
      />
      <output for={id}>{smoothing.value.toFixed(2)}</output>
    </span>
  );
}
