import './run-list.css';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RunStatus, RunSummary } from '../../api.ts';
import { LineSwatch } from '../charts/chart-legend.tsx';
import type { DashboardState } from '../dashboard-state.ts';
import { formatDuration, formatTime, kindNames, progressOf, statuses } from './describe-run.ts';

/** All runs: a click selects one, checkboxes draw others with it. */
export function RunList({ state }: { state: DashboardState }) {
  const runs = state.runs.value ?? [];
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => showChosen(list.current!), [state.runId.value, runs.length]);
  return (
    <section class="panel run-list" aria-label="Runs">
      <h2>
        Runs <span class="count">{runs.length}</span>
      </h2>
      <ul ref={list} onKeyDown={moveFocus}>
        {runs.map((run) => (
          <RunItem key={run.id} run={run} state={state} />
        ))}
      </ul>
    </section>
  );
}

function RunItem({ run, state }: { run: RunSummary; state: DashboardState }) {
  const isSelected = state.runId.value === run.id;
  const colour = state.colours.value.get(run.id);
  const hasSeveralRuns = state.drawn.value.length > 1;
  return (
    <li class={isSelected ? 'run-item chosen' : 'run-item'}>
      <input
        type="checkbox"
        aria-label={`Draw ${run.name}`}
        title={
          isSelected ? 'The selected run is always drawn' : 'Draw this run with the selected one'
        }
        checked={isSelected || state.ticked.value.has(run.id)}
        disabled={isSelected}
        onChange={(event) => state.tick(run.id, event.currentTarget.checked)}
      />
      <a href={state.overviewOf(run.id)} aria-current={isSelected ? 'true' : undefined}>
        <span class="run-line">
          <span class="run-name">
            {run.name} {hasSeveralRuns && colour !== undefined && <LineSwatch colour={colour} />}
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

/** Scrolls the list, but not the page, so that the selected run is in view. */
function showChosen(list: HTMLUListElement): void {
  const item = list.querySelector<HTMLElement>('.chosen');
  if (item === null) return;
  const top = item.offsetTop - list.offsetTop;
  const isAbove = top < list.scrollTop;
  const isBelow = top + item.offsetHeight > list.scrollTop + list.clientHeight;
  if (isAbove || isBelow) list.scrollTop = top;
}

/** Arrow keys move between runs. */
function moveFocus(event: KeyboardEvent): void {
  const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (direction === undefined) return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')];
  const index = links.findIndex((link) => link.closest('li')!.contains(event.target as Node));
  const next = links[index + direction];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** The status of a run, in its colour. */
export function StatusBadge({ status }: { status: RunStatus }) {
  const { word, tone } = statuses[status];
  return <span class={`status-badge tone-${tone}`}>{word}</span>;
}

/** Progress of a run: a bar, its step, and the remaining time. */
function RunProgress({ run }: { run: RunSummary }) {
  const fraction = progressOf(run);
  const { tone } = statuses[run.status];
  return (
    <span class="run-progress">
      <span
        class={`run-bar tone-${tone}`}
        role="progressbar"
        aria-label={`Progress of ${run.name}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={fraction === undefined ? undefined : Math.round(100 * fraction)}
      >
        <span style={{ width: `${100 * (fraction ?? 0)}%` }} />
      </span>
      <span class="run-steps">
        step {run.step}
        {run.totalSteps !== null && ` of ${run.totalSteps}`}
        {run.eta !== null && ` · ${formatDuration(run.eta)} left`}
      </span>
    </span>
  );
}
