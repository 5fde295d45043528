import './verdict-panel.css';
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { EvaluationRow, LogRow, RunSummary } from '../../api.ts';
import type { RunData } from '../run-data.ts';
import { formatRoute } from '../shell/route.ts';
import { formatTime, isAlive, statuses, type Tone } from './describe-run.ts';

/** Number of warnings shown unfolded. */
const shownWarnings = 3;
/** Becomes a link in messages. */
const pageName = 'Label page';

interface VerdictPanelProps extends Pick<RunSummary, 'status' | 'message'> {
  readonly data: RunData;
}

/** The state of a run in words: why it ended, the evaluator's verdict, and warnings. */
export function VerdictPanel({ status, message, data }: VerdictPanelProps) {
  const verdict = lastVerdict(data.evaluations.value);
  const warnings = listWarnings(data.log.value);
  const isQuiet = verdict === undefined && warnings.length === 0 && message === null;
  return (
    <section class="panel verdict-panel" aria-label="Verdict">
      <h2>Verdict</h2>
      {message !== null && (
        <p class={`verdict tone-${statuses[status].tone}`}>
          <b>{isAlive({ status }) ? 'Now' : 'End'}</b> <LinkedMessage message={message} />
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
      {isQuiet && (
        <p class="quiet-note">
          {isAlive({ status })
            ? 'No evaluations and no warnings yet.'
            : 'The run ended without evaluations and without warnings.'}
        </p>
      )}
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

/** Number of log lines shown, the newest first. */
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

/** The evaluator's verdict on a run. */
export interface Verdict {
  readonly step: number;
  readonly message: string;
  readonly tone: Tone;
}

/** The verdict of the last evaluation that has one.
 *  @example { step: 5, convergence: { message: 'Improving', performanceImproved: true } }  →  'Improving', good */
export function lastVerdict(evaluations: readonly EvaluationRow[]): Verdict | undefined {
  for (const { step, convergence } of evaluations.toReversed()) {
    if (typeof convergence !== 'object' || convergence === null) continue;
    const { message, stop, performanceImproved } = convergence as Record<string, unknown>;
    if (typeof message !== 'string') continue;
    if (stop !== undefined && stop !== 'converged') return { step, message, tone: 'bad' };
    return {
      step,
      message,
      tone: stop === 'converged' || performanceImproved === true ? 'good' : 'quiet',
    };
  }
  return undefined;
}

/** Warnings, the newest first; a repeated one appears once, with a count.
 *  @example 'KL is high' at steps 3 and 5  →  'KL is high' at step 5, 2 times */
export function listWarnings(log: readonly LogRow[]) {
  const warnings = new Map<string, { message: string; step: number; times: number }>();
  for (const { type, message, step } of log) {
    if (type !== 'warning') continue;
    const times = (warnings.get(message)?.times ?? 0) + 1;
    warnings.delete(message);
    warnings.set(message, { message, step, times });
  }
  return [...warnings.values()].reverse();
}

/** The message of a run; the name of the Label page is a link to it. */
function LinkedMessage({ message }: { message: string }) {
  return (
    <>
      {message.split(pageName).map((text, i) => (
        <Fragment key={i}>
          {i > 0 && <a href={formatRoute({ page: 'label' })}>{pageName}</a>}
          {text}
        </Fragment>
      ))}
    </>
  );
}
