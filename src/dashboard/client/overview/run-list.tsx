import './run-list.css';
import type { RunStatus, RunSummary } from '../../api.ts';
import { LineSwatch } from '../charts/chart-legend.tsx';
import type { DashboardState } from '../dashboard-state.ts';
import { formatDuration, formatTime, kindNames, progressOf, statuses } from './describe-run.ts';

/** Every run: a click chooses one, ticks draw others beside it. */
export function RunList({ state }: { state: DashboardState }) {
  const runs = state.runs.value ?? [];
  return (
    <section class="panel run-list" aria-label="Runs">
      <h2>
        Runs <span class="count">{runs.length}</span>
      </h2>
      <ul onKeyDown={moveFocus}>
        {runs.map((run) => (
          <RunItem key={run.id} run={run} state={state} />
        ))}
      </ul>
    </section>
  );
}

function RunItem({ run, state }: { run: RunSummary; state: DashboardState }) {
  const isChosen = state.runId.value === run.id;
  const colour = state.colours.value.get(run.id);
  const areSeveral = state.drawn.value.length > 1;
  return (
    <li class={isChosen ? 'run-item chosen' : 'run-item'}>
      <input
        type="checkbox"
        aria-label={`Draw ${run.name}`}
        title={isChosen ? 'The chosen run is always drawn' : 'Draw this run beside the chosen one'}
        checked={isChosen || state.ticked.value.has(run.id)}
        disabled={isChosen}
        onChange={(event) => state.tick(run.id, event.currentTarget.checked)}
      />
      <a href={state.overviewOf(run.id)} aria-current={isChosen ? 'true' : undefined}>
        <span class="run-line">
          <span class="run-name">
            {run.name} {areSeveral && colour !== undefined && <LineSwatch colour={colour} />}
          </span>
          <StatusBadge status={run.status} />
        </span>
        <RunProgress run={run} />
        <span class="run-started">
          {kindNames[run.kind]}, started {formatTime(run.startedAt)}
        </span>
      </a>
    </li>
  );
}

/** Arrows go from run to run. */
function moveFocus(event: KeyboardEvent): void {
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (way === undefined) return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')];
  const place = links.findIndex((link) => link.closest('li')!.contains(event.target as Node));
  const next = links[place + way];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** A run's state as a word with its colour. */
export function StatusBadge({ status }: { status: RunStatus }) {
  const { word, tone } = statuses[status];
  return <span class={`status-badge tone-${tone}`}>{word}</span>;
}

/** How far a run is: a bar, its step, and the time that is left. */
export function RunProgress({ run }: { run: RunSummary }) {
  const part = progressOf(run);
  const { tone } = statuses[run.status];
  return (
    <span class="run-progress">
      <span
        class={`run-bar tone-${tone}`}
        role="progressbar"
        aria-label={`Progress of ${run.name}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={part === undefined ? undefined : Math.round(100 * part)}
      >
        <span style={{ width: `${100 * (part ?? 0)}%` }} />
      </span>
      <span class="run-steps">
        step {run.step}
        {run.totalSteps !== null && ` of ${run.totalSteps}`}
        {run.eta !== null && ` · ${formatDuration(run.eta)} left`}
      </span>
    </span>
  );
}
