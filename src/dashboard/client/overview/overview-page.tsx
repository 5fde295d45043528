import { useMemo, useRef } from 'preact/hooks';
import { ChartGrid } from '../charts/chart-grid.tsx';
import type { DrawnRun } from '../charts/chart-layout.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { ConfigTable } from './config-table.tsx';
import { RunList } from './run-list.tsx';
import { RunPanel } from './run-panel.tsx';
import { VerdictPanel } from './verdict-panel.tsx';
import './overview-page.css';

/** The runs, how the chosen one does, and the charts of all that are drawn. Each part is drawn again
 *  only with what it shows: of a run that goes on, the step and the phase change every second. */
export function OverviewPage({ state }: { state: DashboardState }) {
  return (
    <div class="overview">
      <aside class="overview-side">
        <RunList state={state} />
        <ChosenRun state={state} />
      </aside>
      <div class="overview-main">
        {state.runId.value === undefined && (
          <p class="nothing">This run is no longer there: choose another one.</p>
        )}
        <DrawnCharts state={state} />
        <DrawnConfigs state={state} />
      </div>
    </div>
  );
}

function ChosenRun({ state }: { state: DashboardState }) {
  const run = state.run.value;
  if (run === undefined) return null;
  const { status, message } = run;
  return (
    <>
      <RunPanel run={run} state={state} />
      <VerdictPanel {...{ status, message, data: state.dataOf(run.id) }} />
    </>
  );
}

function DrawnCharts({ state }: { state: DashboardState }) {
  const drawn = useSame(
    state.drawn.value.map(({ id, name }) => ({
      name,
      colour: state.colours.value.get(id) ?? 0,
      series: state.dataOf(id).series.value,
    })),
  );
  const isLoading = state.drawn.value
    .map(({ id }) => state.dataOf(id))
    .some((data) => data.metrics.value === undefined && data.error.value === undefined);
  if (isLoading) return <p class="nothing">Reading the metrics…</p>;
  return <ChartGrid runs={drawn} view={state.view} />;
}

function DrawnConfigs({ state }: { state: DashboardState }) {
  const drawn = state.drawn.value;
  const colours = state.colours.value;
  const configs = drawn.map(({ id }) => state.dataOf(id).config.value);
  return useMemo(() => {
    if (drawn.length === 0) return null;
    const runs = drawn.map(({ id, name }, i) => ({
      ...{ id, name, colour: colours.get(id) ?? 0, config: configs[i]! },
    }));
    return <ConfigTable runs={runs} />;
  }, [drawn, colours, ...configs]);
}

/** The same list as before where nothing in it has changed, so that charts are not drawn again. */
function useSame(runs: readonly DrawnRun[]): readonly DrawnRun[] {
  const kept = useRef(runs);
  const isSame =
    kept.current.length === runs.length &&
    runs.every((run, i) => {
      const old = kept.current[i]!;
      return run.name === old.name && run.colour === old.colour && run.series === old.series;
    });
  if (!isSame) kept.current = runs;
  return kept.current;
}
