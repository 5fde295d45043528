import { useRef } from 'preact/hooks';
import { ChartGrid } from '../charts/chart-grid.tsx';
import type { DrawnRun } from '../charts/chart-lines.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { ConfigTable } from './config-table.tsx';
import { RunList } from './run-list.tsx';
import { RunPanel } from './run-panel.tsx';
import { VerdictPanel } from './verdict-panel.tsx';
import './overview-page.css';

/** The runs, how the chosen one does, and the charts of all that are drawn. */
export function OverviewPage({ state }: { state: DashboardState }) {
  const run = state.run.value;
  const drawn = useSame(
    state.drawn.value.map(({ id, name }) => ({
      name,
      colour: state.colours.value.get(id) ?? 0,
      series: state.dataOf(id).series.value,
    })),
  );
  const isLoading = state.drawn.value.some(
    ({ id }) =>
      state.dataOf(id).metrics.value === undefined && state.dataOf(id).error.value === undefined,
  );
  const configs = state.drawn.value.map(({ id, name }) => ({
    id,
    name,
    colour: state.colours.value.get(id) ?? 0,
    config: state.dataOf(id).config.value,
  }));
  return (
    <div class="overview">
      <aside class="overview-side">
        <RunList state={state} />
        {run !== undefined && <RunPanel run={run} state={state} />}
        {run !== undefined && <VerdictPanel run={run} data={state.dataOf(run.id)} />}
      </aside>
      <div class="overview-main">
        {run === undefined && (
          <p class="nothing">This run is no longer there: choose another one.</p>
        )}
        {isLoading ? <p class="nothing">Reading the metrics…</p> : <ChartGrid runs={drawn} />}
        {drawn.length > 0 && <ConfigTable runs={configs} />}
      </div>
    </div>
  );
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
