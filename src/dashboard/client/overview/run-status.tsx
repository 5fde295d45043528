import type { RunStatus, RunSummary } from '../../api.ts';
import { formatDuration, progressOf, statuses } from './describe-run.ts';

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
