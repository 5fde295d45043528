import type { RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { isAlive } from './describe-run.ts';
import { RunControls } from './run-controls.tsx';
import { StatusBadge } from './run-status.tsx';
import './run-panel.css';

/** The chosen run: where it is, what it is at, and what can be asked of it. */
export function RunPanel({ run, state }: { run: RunSummary; state: DashboardState }) {
  return (
    <section class="panel run-panel" aria-labelledby="run-name">
      <h1 id="run-name">{run.name}</h1>
      <p>
        <StatusBadge status={run.status} />
        {run.phase !== null && isAlive(run) && (
          <span class="run-phase">
            {run.phase.phase}, {run.phase.done} of {run.phase.total}
          </span>
        )}
      </p>
      {state.source.live !== undefined && (
        <RunControls key={run.id} run={run} live={state.source.live} />
      )}
    </section>
  );
}
