import { useState } from 'preact/hooks';
import type { LogRow, RunSummary } from '../../api.ts';
import type { RunData } from '../run-data.ts';
import { formatTime, isAlive, statuses } from './describe-run.ts';
import { lastVerdict, listWarnings } from './verdict.ts';
import './verdict-panel.css';

/** Warnings that are shown without being asked for. */
const shownWarnings = 3;

interface VerdictPanelProps extends Pick<RunSummary, 'status' | 'message'> {
  readonly data: RunData;
}

/** How a run does, in plain words: why it ended, what the evaluator says, and what it warned of. */
export function VerdictPanel({ status, message, data }: VerdictPanelProps) {
  const verdict = lastVerdict(data.evaluations.value);
  const warnings = listWarnings(data.log.value);
  const isQuiet = verdict === undefined && warnings.length === 0 && message === null;
  return (
    <section class="panel verdict-panel" aria-label="Verdict">
      <h2>Verdict</h2>
      {message !== null && (
        <p class={`verdict tone-${statuses[status].tone}`}>
          <b>{isAlive({ status }) ? 'Now' : 'End'}</b> {message}
        </p>
      )}
      {verdict !== undefined && verdict.message !== message && (
        <p class={`verdict tone-${verdict.tone}`}>
          <b>Evaluation at step {verdict.step}</b> {verdict.message}
        </p>
      )}
      <Warnings warnings={warnings.slice(0, shownWarnings)} />
      {warnings.length > shownWarnings && (
        <details>
          <summary>{warnings.length - shownWarnings} more warnings</summary>
          <Warnings warnings={warnings.slice(shownWarnings)} />
        </details>
      )}
      {isQuiet && <p class="quiet-note">No evaluation yet, and nothing to warn of.</p>}
      {data.error.value !== undefined && (
        <p class="verdict tone-bad" role="alert">
          {data.error.value}
        </p>
      )}
      <RunLog log={data.log.value} />
    </section>
  );
}

function Warnings({ warnings }: { warnings: ReturnType<typeof listWarnings> }) {
  return (
    <>
      {warnings.map(({ message, step, times }) => (
        <p key={message} class="verdict tone-warn">
          <b>
            Warning at step {step}
            {times > 1 && `, ${times} times`}
          </b>{' '}
          {message}
        </p>
      ))}
    </>
  );
}

/** The newest lines of the log that are drawn. */
const shownLines = 200;

function RunLog({ log }: { log: readonly LogRow[] }) {
  const [isOpen, setOpen] = useState(false);
  if (log.length === 0) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Log, {log.length} lines</summary>
      {isOpen && <LogLines log={log} />}
    </details>
  );
}

function LogLines({ log }: { log: readonly LogRow[] }) {
  const newest = log.slice(-shownLines).reverse();
  return (
    <ol class="run-log">
      {newest.map(({ time, step, type, message }, i) => (
        <li key={log.length - i}>
          <span class="log-facts">
            {formatTime(time)} · step {step} · {type}
          </span>
          {message}
        </li>
      ))}
    </ol>
  );
}
