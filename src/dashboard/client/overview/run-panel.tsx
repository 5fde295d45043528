import './run-panel.css';
import { useId, useState } from 'preact/hooks';
import type { ControlCommand, LiveSource, RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { Dialog } from '../shell/dialogs.tsx';
import { isAlive, refuseCommand } from './describe-run.ts';
import { StatusBadge } from './run-list.tsx';

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

const commands: readonly { command: ControlCommand; label: string; asked: string }[] = [
  { command: 'pause', label: 'Pause', asked: 'The run pauses before its next step.' },
  { command: 'resume', label: 'Resume', asked: 'The run goes on.' },
  { command: 'save', label: 'Save now', asked: 'A checkpoint is saved after this step.' },
  { command: 'stop', label: 'Stop after this step', asked: 'The run ends after this step.' },
];

interface RunControlsProps {
  readonly run: RunSummary;
  readonly live: LiveSource;
}

/** Buttons that ask something of a living run. Those that make no sense now say why. */
export function RunControls(props: RunControlsProps) {
  const { run } = props;
  const { note, send } = useSender(props);
  const [isStopping, setStopping] = useState(false);
  const ended = isAlive(run) ? '' : 'The run has ended: nothing can be asked of it.';
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
          onClose={(isSure) => {
            setStopping(false);
            if (isSure) void send('stop');
          }}
        />
      )}
    </fieldset>
  );
}

/** Sends commands, and tells what became of the last one. */
function useSender({ run, live }: RunControlsProps) {
  const [note, setNote] = useState({ text: '', isFailure: false });
  const send = async (command: ControlCommand) => {
    try {
      await live.control(run.id, command);
      const { asked } = commands.find((one) => one.command === command)!;
      setNote({ text: asked, isFailure: false });
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

function StopDialog({ name, onClose }: { name: string; onClose: (isSure: boolean) => void }) {
  return (
    <Dialog title={`Stop ${name}?`} onClose={() => onClose(false)}>
      <p>The run ends after its present step. It can be resumed later from its last checkpoint.</p>
      <div class="dialog-buttons">
        <button type="button" onClick={() => onClose(false)}>
          Let it run
        </button>
        <button type="button" class="primary" onClick={() => onClose(true)}>
          Stop it
        </button>
      </div>
    </Dialog>
  );
}
