import { useMemo, useRef } from 'preact/hooks';
import { ChartGrid } from '../charts/chart-grid.tsx';
import type { DrawnRun } from '../charts/chart-layout.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { useMedia } from '../shell/hooks.ts';
import { ConfigTable } from './config-table.tsx';
import { explainNoMetrics } from './describe-run.ts';
import { HeadlinePanel } from './headline-panel.tsx';
import { HumanCard } from './human-card.tsx';
import { RunList } from './run-list.tsx';
import { RunPanel } from './run-panel.tsx';
import { VerdictPanel } from './verdict-panel.tsx';
import { WorkersPanel } from './workers-panel.tsx';
import './overview-page.css';

/** Screens on which the side panel would leave no room for charts. */
const narrow = '(max-width: 900px)';

/** The runs, the state of the selected one, and the charts of all drawn runs. Each part is redrawn only
 *  if its own data change: the step and phase of an active run change every second. On a narrow screen
 *  the numbers and charts come before the list, since the header selects a run too. */
export function OverviewPage({ state }: { state: DashboardState }) {
  const isNarrow = useMedia(narrow);
  if (state.runId.value === undefined) {
    return (
      <div class="overview">
        <RunList state={state} />
        <p class="nothing">This run no longer exists: select another one.</p>
      </div>
    );
  }
  if (isNarrow) {
    return (
      <div class="overview">
        <SelectedRun state={state} />
        <SelectedHeadlines state={state} />
        <DrawnCharts state={state} />
        <SelectedWorkers state={state} />
        <SelectedVerdict state={state} />
        <RunList state={state} />
        <DrawnConfigs state={state} />
      </div>
    );
  }
  return (
    <div class="overview">
      <aside class="overview-side">
        <RunList state={state} />
        <SelectedRun state={state} />
        <SelectedVerdict state={state} />
      </aside>
      <div class="overview-main">
        <SelectedHeadlines state={state} />
        <SelectedWorkers state={state} />
        <DrawnCharts state={state} />
        <DrawnConfigs state={state} />
      </div>
    </div>
  );
}

function SelectedRun({ state }: { state: DashboardState }) {
  const run = state.run.value;
  return run === undefined ? null : <RunPanel run={run} state={state} />;
}

function SelectedVerdict({ state }: { state: DashboardState }) {
  const run = state.run.value;
  if (run === undefined) return null;
  const { status, message } = run;
  const data = state.dataOf(run.id);
  return (
    <>
      <VerdictPanel {...{ status, message, data }} />
      <HumanCard evaluations={data.evaluations.value} />
    </>
  );
}

function SelectedHeadlines({ state }: { state: DashboardState }) {
  const run = state.run.value;
  return run === undefined ? null : <HeadlinePanel kind={run.kind} data={state.dataOf(run.id)} />;
}

function SelectedWorkers({ state }: { state: DashboardState }) {
  const run = state.run.value;
  const workers = run && state.dataOf(run.id).workers.value;
  return workers ? <WorkersPanel status={run.status} workers={workers} /> : null;
}

function DrawnCharts({ state }: { state: DashboardState }) {
  const drawn = useUnchanged(
    state.drawn.value.map(({ id, name }) => ({
      name,
      colour: state.colours.value.get(id) ?? 0,
      series: state.dataOf(id).series.value,
    })),
  );
  const isLoading = state.drawn.value
    .map(({ id }) => state.dataOf(id))
    .some((data) => data.metrics.value === undefined && data.error.value === undefined);
  if (isLoading) return <p class="nothing">Loading metrics…</p>;
  if (drawn.every(({ series }) => series.size === 0)) {
    const run = state.run.value;
    return <p class="nothing">{run === undefined ? 'No metrics.' : explainNoMetrics(run)}</p>;
  }
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

/** Returns the previous list if nothing in it has changed, so that charts are not redrawn. */
function useUnchanged(runs: readonly DrawnRun[]): readonly DrawnRun[] {
  const previous = useRef(runs);
  const isSame =
    previous.current.length === runs.length &&
    runs.every((run, i) => {
      const old = previous.current[i]!;
      return run.name === old.name && run.colour === old.colour && run.series === old.series;
    });
  if (!isSame) previous.current = runs;
  return previous.current;
}
