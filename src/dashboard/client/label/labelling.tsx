import { untracked, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { RunSummary } from '../../api.ts';
import { ProgressBar } from './controls.tsx';
import { focusOf, type LabelCommand, performCommand, readKey } from './label-keys.ts';
import { LabelSession, type LabelSessionOptions } from './label-session.ts';
import { LabellingDone } from './labelling-done.tsx';
import { answersOf } from './queue-store.ts';
import { NoteField, SessionError, TaskView } from './task-view.tsx';

interface LabellingProps extends LabelSessionOptions {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
}

/** Labels one queue, task by task. */
export function Labelling({ onClose, runs, ...options }: LabellingProps) {
  const { store, queue: id, labeller } = options;
  // The options are constant: the component's key contains them.
  const session = useMemo(() => new LabelSession(options), []);
  const note = useRef<HTMLTextAreaElement>(null);
  const top = useRef<HTMLElement>(null);
  const act = (command: LabelCommand) => {
    if (command.type === 'note') note.current?.focus();
    else performCommand(session, command);
  };
  useLayoutEffect(() => {
    top.current?.focus();
    void session.start();
    const listen = (event: KeyboardEvent) => {
      // Keys are ignored while a dialog is open.
      if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      const shown = { task: session.task.value, focus: focusOf(event.target) };
      const command = readKey(event, shown);
      if (command === undefined) return;
      event.preventDefault();
      act(command);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  useSignalEffect(() => {
    store.queues.value;
    untracked(() => void session.checkForTasks());
  });
  const queue = store.find(id);
  const task = session.task.value;
  const isDone = session.state.value === 'done';
  return (
    <section
      class="label-work"
      ref={top}
      tabIndex={-1}
      aria-label={`Labelling ${queue?.name ?? ''}`}
    >
      <div class="label-top">
        <button type="button" onClick={onClose}>
          ← All queues
        </button>
        <strong dir="auto">{queue?.name}</strong>
        {queue && <Progress mine={answersOf(queue, labeller)} total={queue.total} />}
      </div>
      <p class="label-hidden" role="status">
        {session.announcement}
      </p>
      {task === undefined && <SessionError session={session} />}
      {task && (
        <TaskView
          {...{ session, task, act, question: queue?.question ?? '' }}
          note={<NoteField session={session} field={note} />}
        />
      )}
      {isDone && <LabellingDone {...{ live: options.live, queue, runs, act, onClose }} />}
      {task === undefined && session.state.value === 'loading' && (
        <p class="label-hint">Loading…</p>
      )}
    </section>
  );
}

function Progress({ mine, total }: { mine: number; total: number }) {
  return (
    <div class="label-mine">
      <ProgressBar label="Your progress" value={mine} total={total} />
      <span>
        {mine} of {total}
      </span>
    </div>
  );
}
