import type { LogRow, RunSummary } from '../../api.ts';
import type { RunData } from '../run-data.ts';
import { formatTime, isAlive, statuses } from './describe-run.ts';
import { lastVerdict, listWarnings } from './verdict.ts';
import './verdict-panel.css';

/** Warnings that are shown without being asked for. */
const shownWarnings = 3;

/** How a run does, in plain words: why it ended, what the evaluator says, and what it warned of. */
export function VerdictPanel({ run, data }: { run: RunSummary; data: RunData }) {
  const verdict = lastVerdict(data.evaluations.value);
  const warnings = listWarnings(data.log.value);
  const isQuiet = verdict === undefined && warnings.length === 0 && run.message === null;
  return (
    <section class="panel verdict-panel" aria-label="Verdict">
      <h2>Verdict</h2>
      {run.message !== null && (
        <p class={`verdict tone-${statuses[run.status].tone}`}>
          <b>{isAlive(run) ? 'Now' : 'End'}</b> {run.message}
        </p>
      )}
      {verdict !== undefined && verdict.message !== run.message && (
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
  if (log.length === 0) return null;
  return (
    <details>
      <summary>Log, {log.length} lines</summary>
      <ol class="run-log">
        {log
          .slice(-shownLines)
          .reverse()
          .map(({ time, step, type, message }, i) => (
            <li key={log.length - i}>
              <span class="log-facts">
                {formatTime(time)} · step {step} · {type}
              </span>
              {message}
            </li>
          ))}
      </ol>
    </details>
  );
}
