import './run-panel.css';
import { useId, useState } from 'preact/hooks';
import type { ControlCommand, LiveSource, RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { Dialog } from '../shell/dialogs.tsx';
import { isAlive, refuseCommand } from './describe-run.ts';
import { StatusBadge } from './run-list.tsx';

/** The selected run: its status, its phase, and its controls. */
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

const commands: readonly { command: ControlCommand; label: string; confirmation: string }[] = [
  { command: 'pause', label: 'Pause', confirmation: 'The run pauses before its next step.' },
  { command: 'resume', label: 'Resume', confirmation: 'The run continues.' },
  { command: 'save', label: 'Save now', confirmation: 'A checkpoint is saved after this step.' },
  { command: 'stop', label: 'Stop after this step', confirmation: 'The run ends after this step.' },
];

interface RunControlsProps {
  readonly run: RunSummary;
  readonly live: LiveSource;
}

/** Buttons that control an active run. A disabled one explains why. */
function RunControls(props: RunControlsProps) {
  const { run } = props;
  const { note, send } = useSender(props);
  const [isStopping, setStopping] = useState(false);
  const ended = isAlive(run) ? '' : 'The run has ended and can no longer be controlled.';
  return (
    <fieldset class="run-controls" aria-label="Control">
      {commands.map(({ command, label }) => (
        <ControlButton
          key={command}
          label={label}
          refusal={refuseCommand(run, command)}
          onClick={() => (command === 'stop' ? setStopping(true) : void send(command))}
        />
      ))}
      <p role="status" class={note.isFailure ? 'failed' : ''}>
        {note.isFailure ? note.text : ended || note.text}
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

/** Sends commands and reports the result of the latest one. */
function useSender({ run, live }: RunControlsProps) {
  const [note, setNote] = useState({ text: '', isFailure: false });
  const send = async (command: ControlCommand) => {
    try {
      await live.control(run.id, command);
      const { confirmation } = commands.find((one) => one.command === command)!;
      setNote({ text: confirmation, isFailure: false });
    } catch (error) {
      setNote({ text: error instanceof Error ? error.message : String(error), isFailure: true });
    }
  };
  return { note, send };
}

interface ControlButtonProps {
  readonly label: string;
  readonly refusal: string | undefined;
  readonly onClick: () => void;
}

function ControlButton({ label, refusal, onClick }: ControlButtonProps) {
  const id = useId();
  return (
    <button
      type="button"
      aria-disabled={refusal !== undefined}
      aria-describedby={refusal === undefined ? undefined : id}
      title={refusal}
      onClick={() => {
        if (refusal === undefined) onClick();
      }}
    >
      {label}
      {refusal !== undefined && (
        <span id={id} hidden>
          {refusal}
        </span>
      )}
    </button>
  );
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
