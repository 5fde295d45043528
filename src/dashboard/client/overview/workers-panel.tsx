import './workers-panel.css';
import type { RunStatus, WorkerState, WorkersState } from '../../api.ts';
import { commandLine } from '../command-line.ts';
import { formatBytes, formatFixed, formatPercent, visibleText } from '../format.ts';
import { formatDuration, isAlive } from './describe-run.ts';
import {
  describeStage,
  describeUpdate,
  efficiencyOf,
  formatExactTime,
  splitWorkers,
  workerTones,
} from './describe-workers.ts';

/** Number of workers shown unfolded. */
const shownWorkers = 12;

interface WorkersPanelProps {
  readonly status: RunStatus;
  readonly workers: WorkersState;
}

/** The workers of a run with a queue: who is connected, what they do, and what has been moved. */
export function WorkersPanel({ status, workers: state }: WorkersPanelProps) {
  const { joined, refused } = splitWorkers(state.workers);
  const isLive = isAlive({ status });
  return (
    <section class="panel workers-panel" aria-label="Workers">
      <header>
        <h2>
          Workers{' '}
          <span class="count">
            {joined.length} {isLive ? 'connected' : 'at the end'}
          </span>
        </h2>
        <p class="workers-time">
          {describeUpdate(status)}{' '}
          <time dateTime={state.updatedAt}>{formatExactTime(state.updatedAt)}</time>
        </p>
      </header>
      <QueueFacts state={state} />
      <QueueProblems {...{ isLive, state, joined: joined.length }} />
      <WorkerList workers={joined.slice(0, shownWorkers)} {...{ isLive, now: state.updatedAt }} />
      {joined.length > shownWorkers && (
        <details>
          <summary>{joined.length - shownWorkers} more workers</summary>
          <WorkerList workers={joined.slice(shownWorkers)} {...{ isLive, now: state.updatedAt }} />
        </details>
      )}
      {refused.map((worker) => (
        <p key={nameOf(worker)} class="verdict tone-bad">
          <b>Refused: {nameOf(worker)}</b> {visibleText(worker.message ?? 'no reason given')}
        </p>
      ))}
    </section>
  );
}

/** The stage of the step and the totals of the run. */
function QueueFacts({ state: { progress, totals } }: { state: WorkersState }) {
  const { done, total } = progress;
  const stage = describeStage(progress);
  return (
    <dl class="workers-facts">
      <div class="workers-stage">
        <dt>Stage</dt>
        <dd>{stage}</dd>
        {total > 0 && done <= total && (
          <dd>
            <Bar label="Jobs of the stage" text={stage} fraction={done / total} />
          </dd>
        )}
      </div>
      <div>
        <dt>Jobs</dt>
        <dd>
          {totals.jobs} <small>{formatFixed(totals.jobsPerSecond, 2)} per second</small>
        </dd>
      </div>
      <div>
        <dt>Retries</dt>
        <dd>{totals.retries}</dd>
      </div>
      <div>
        <dt>Sent by the trainer</dt>
        <dd>{formatBytes(totals.sent)}</dd>
      </div>
      <div>
        <dt>Received</dt>
        <dd>{formatBytes(totals.received)}</dd>
      </div>
    </dl>
  );
}

interface QueueProblemsProps {
  readonly isLive: boolean;
  readonly state: WorkersState;
  /** Number of workers that can take jobs. */
  readonly joined: number;
}

/** What keeps jobs from being done. */
function QueueProblems({ isLive, state, joined }: QueueProblemsProps) {
  if (!state.connected) {
    return (
      <p class="verdict tone-warn">
        <b>Redis did not answer</b>{' '}
        {isLive
          ? 'The run continues when it is back. These are the workers it last reported.'
          : 'These are the workers that it reported before.'}
      </p>
    );
  }
  if (joined > 0) return null;
  if (!isLive) return <p class="quiet-note">No worker was connected.</p>;
  return (
    <p class="verdict tone-warn">
      <b>Waiting for workers</b> Start one with <code>{commandLine('worker --queue URL')}</code>
    </p>
  );
}

interface WorkerListProps {
  readonly workers: readonly WorkerState[];
  readonly isLive: boolean;
  /** When the state was written. */
  readonly now: string;
}

function WorkerList({ workers, ...rest }: WorkerListProps) {
  if (workers.length === 0) return null;
  return (
    <ul class="worker-list">
      {workers.map((worker) => (
        <WorkerCard key={nameOf(worker)} worker={worker} {...rest} />
      ))}
    </ul>
  );
}

type WorkerCardProps = Omit<WorkerListProps, 'workers'> & { readonly worker: WorkerState };

function WorkerCard({ worker, isLive, now }: WorkerCardProps) {
  const { state, message, jobs, failed, since, sent, received } = worker;
  const efficiency = efficiencyOf(worker);
  const tone = isLive ? workerTones[state] : 'quiet';
  const connected = (Date.parse(now) - Date.parse(since)) / 1000;
  return (
    <li class="worker">
      <p class="worker-line">
        <span class="worker-name">{nameOf(worker)}</span>
        <span class={`status-badge tone-${tone}`}>{state}</span>
      </p>
      <p class="worker-line worker-message">
        <span>{visibleText(message ?? '')}</span>
        <span>connected {formatDuration(connected)}</span>
      </p>
      <Bar
        label={`Efficiency of ${nameOf(worker)}`}
        text={formatPercent(efficiency)}
        fraction={efficiency ?? 0}
      />
      <dl>
        <Fact name="Efficiency" value={formatPercent(efficiency)} />
        <Fact name="Jobs" value={failed === 0 ? `${jobs}` : `${jobs}, ${failed} failed`} />
        <Fact name="Received" value={formatBytes(received)} />
        <Fact name="Sent" value={formatBytes(sent)} />
      </dl>
    </li>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface BarProps {
  readonly label: string;
  readonly text: string;
  readonly fraction: number;
}

function Bar({ label, text, fraction }: BarProps) {
  const percent = Math.round(100 * fraction);
  return (
    <span
      class="run-bar tone-active"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={text}
    >
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

/** @example 'gpu-1:4021' */
function nameOf({ host, pid }: Pick<WorkerState, 'host' | 'pid'>): string {
  return `${visibleText(host)}:${pid}`;
}
