import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LabelQueue, LiveSource, NextStep, RunSummary } from '../../api.ts';
import { isAlive, statuses } from '../overview/describe-run.ts';
import { formatRoute } from '../shell/route.ts';
import { KeyButton } from './controls.tsx';
import type { LabelCommand } from './label-keys.ts';

interface LabellingDoneProps {
  readonly live: LiveSource;
  /** Undefined if the queue was deleted. */
  readonly queue: LabelQueue | undefined;
  readonly runs: readonly RunSummary[];
  readonly act: (command: LabelCommand) => void;
  readonly onClose: () => void;
}

/** Shown after the last task. */
export function LabellingDone({ live, queue, runs, act, onClose }: LabellingDoneProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const run = runs.find(({ id }) => id === queue?.run);
  const isOver = queue?.live === true && hasEnded(queue, runs);
  return (
    <section class="label-done">
      <h3 ref={heading} tabIndex={-1}>
        {queue?.live !== true
          ? 'Thank you! All tasks are answered.'
          : isOver
            ? 'Thank you! The run has ended.'
            : 'All scored. Waiting for the run…'}
      </h3>
      {queue?.live === true ? (
        <p>
          {isOver ? describeEnd(run) : 'The run continues. Its next responses will appear here.'}
        </p>
      ) : (
        queue && <NextSteps {...{ live, queue, run }} />
      )}
      <div class="label-row">
        <button type="button" class="label-primary" onClick={onClose}>
          All queues
        </button>
        {!isOver && (
          <KeyButton
            keys="U"
            title="Undo the last answer"
            isReady
            onPress={() => act({ type: 'undo' })}
          />
        )}
      </div>
    </section>
  );
}

/** Whether the run of a live queue no longer needs scores. A run that was killed or deleted needs them
 *  only if it is resumed. */
export function hasEnded(queue: LabelQueue, runs: readonly RunSummary[]): boolean {
  const run = runs.find(({ id }) => id === queue.run);
  return queue.live && (run === undefined || !isAlive(run));
}

/** How the run of a live queue ended, in a sentence.
 *  @example killed  →  'The run was killed. It needs no scores unless it is resumed.' */
export function describeEnd(run: RunSummary | undefined): string {
  if (run === undefined) return 'The run was deleted. It needs no more scores.';
  const { status, message } = run;
  const isFinal = status === 'completed' || status === 'converged';
  const rest = isFinal ? 'It needs no more scores.' : 'It needs no scores unless it is resumed.';
  const why = message === null || isFinal ? '' : ` (${message})`;
  return `The run ${statuses[status].clause}${why}. ${rest}`;
}

interface NextStepsProps {
  readonly live: LiveSource;
  readonly queue: LabelQueue;
  /** The run that is compared, if the dashboard shows it. */
  readonly run: RunSummary | undefined;
}

function NextSteps({ live, queue, run }: NextStepsProps) {
  const { id, next } = queue;
  return (
    <>
      <p>
        {run !== undefined && (
          <>
            The result is on the page of{' '}
            <a href={formatRoute({ page: 'overview', run: run.id, ticked: [] })}>{run.name}</a>.{' '}
          </>
        )}
        <a href={live.exportUrl(id)} download>
          Download the answers
        </a>
        , or continue in the terminal, in the folder where the dashboard was started:
      </p>
      <ol class="label-steps">
        {next.map((step) => (
          <NextCommand key={step.command} step={step} />
        ))}
      </ol>
    </>
  );
}

/** A command that can be copied. */
function NextCommand({ step: { title, command } }: { step: NextStep }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    // Without a secure connection there is no clipboard; the text can still be selected.
    await navigator.clipboard?.writeText(command);
    setCopied(navigator.clipboard !== undefined);
  };
  return (
    <li>
      {title}
      <div class="label-command">
        <code>{command}</code>
        <button type="button" aria-label={`Copy the command: ${title}`} onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </div>
    </li>
  );
}
