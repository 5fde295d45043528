import './run-panel.css';
import { useEffect, useState } from 'preact/hooks';
import type { ControlCommand, LiveSource, RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { Dialog } from '../shell/dialogs.tsx';
import { commandsFor, isAlive } from './describe-run.ts';
import { StatusBadge } from './run-list.tsx';
import { RunNote } from './run-note.tsx';

/** The selected run: its status, its phase, its note, and the controls of an active run. */
export function RunPanel({ run, state }: { run: RunSummary; state: DashboardState }) {
  const { live } = state.source;
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
      {live !== undefined && isAlive(run) && <RunControls key={run.id} run={run} live={live} />}
      <RunNote key={`note ${run.id}`} run={run} live={live} />
    </section>
  );
}

const commands: Readonly<Record<ControlCommand, { label: string; confirmation: string }>> = {
  pause: { label: 'Pause', confirmation: 'The run pauses before its next step.' },
  resume: { label: 'Resume', confirmation: 'The run continues.' },
  save: { label: 'Save now', confirmation: 'A checkpoint is saved after this step.' },
  stop: { label: 'Stop after this step', confirmation: 'The run ends after this step.' },
};

interface RunControlsProps {
  readonly run: RunSummary;
  readonly live: LiveSource;
}

/** Buttons that control an active run: those that make sense in its state. */
function RunControls(props: RunControlsProps) {
  const { run } = props;
  const { note, send } = useSender(props);
  const [isStopping, setStopping] = useState(false);
  return (
    <fieldset class="run-controls" aria-label="Control">
      {commandsFor(run).map((command, i) => (
        // Pause and Resume are the same button, so that it does not lose the focus.
        <button
          key={i}
          type="button"
          onClick={() => (command === 'stop' ? setStopping(true) : void send(command))}
        >
          {commands[command].label}
        </button>
      ))}
      <p role="status" class={note.isFailure ? 'failed' : ''}>
        {note.text}
      </p>
      {isStopping && (
        <StopDialog
          name={run.name}
          onClose={(isConfirmed) => {
            setStopping(false);
            if (isConfirmed) void send('stop');
          }}
        />
      )}
    </fieldset>
  );
}

const noNote = { text: '', isFailure: false };

/** Sends commands and reports the result of the latest one, until the run's status changes. */
function useSender({ run, live }: RunControlsProps) {
  const [note, setNote] = useState(noNote);
  useEffect(() => setNote(noNote), [run.status]);
  const send = async (command: ControlCommand) => {
    try {
      await live.control(run.id, command);
      setNote({ text: commands[command].confirmation, isFailure: false });
    } catch (error) {
      setNote({ text: error instanceof Error ? error.message : String(error), isFailure: true });
    }
  };
  return { note, send };
}

function StopDialog({ name, onClose }: { name: string; onClose: (isConfirmed: boolean) => void }) {
  return (
    <Dialog title={`Stop ${name}?`} onClose={() => onClose(false)}>
      <p>
        The run ends after its current step. It can be resumed later from its latest checkpoint.
      </p>
      <div class="dialog-buttons">
        <button type="button" onClick={() => onClose(false)}>
          Keep running
        </button>
        <button type="button" class="primary" onClick={() => onClose(true)}>
          Stop run
        </button>
      </div>
    </Dialog>
  );
}
