import './controls.css';
import { useId } from 'preact/hooks';
import { AdapterButtons } from './adapter-buttons.tsx';
import type { Phase, PlaygroundState } from './playground-state.ts';
import { RewardForm } from './reward-form.tsx';

/** Reward, β, buttons and the state of the run. */
export function Controls({ state }: { state: PlaygroundState }) {
  return (
    <>
      <RewardForm state={state} />
      <KlCoefficient state={state} />
      <RunButtons state={state} />
      <Status state={state} />
      <AdapterButtons state={state} />
    </>
  );
}

/** The largest β of the slider. */
const MAX_KL_COEF = 0.5;

function KlCoefficient({ state }: { state: PlaygroundState }) {
  const id = useId();
  const klCoef = state.klCoef.value;
  return (
    <section class="playground-field" aria-label="KL penalty">
      <label for={id}>
        <span class="playground-label">β, the KL penalty</span>
      </label>
      <span class="playground-range">
        <input
          id={id}
          type="range"
          min="0"
          max={MAX_KL_COEF}
          step="0.005"
          value={klCoef}
          aria-describedby={`${id}-hint`}
          onInput={(event) => void state.setKlCoef(Number(event.currentTarget.value))}
        />
        <output for={id}>{klCoef.toFixed(3)}</output>
      </span>
      <p id={`${id}-hint`} class="playground-hint">
        Higher keeps the texts closer to the original model. You can change it at any time.
      </p>
    </section>
  );
}

function RunButtons({ state }: { state: PlaygroundState }) {
  const phase = state.phase.value;
  const { label, action } = mainAction(phase, state);
  return (
    <div class="playground-buttons">
      <button
        type="button"
        class="playground-primary"
        // A disabled button would lose the focus.
        aria-disabled={action === undefined}
        onClick={() => action?.()}
      >
        {label}
      </button>
      {state.hasRun.value && (
        <button type="button" onClick={() => void state.startOver()}>
          Start over
        </button>
      )}
    </div>
  );
}

/** What the main button does now. */
function mainAction(
  phase: Phase,
  state: PlaygroundState,
): { readonly label: string; readonly action?: () => void } {
  switch (phase) {
    case 'loading':
      return { label: 'Loading…' };
    case 'ready':
      return { label: 'Start', action: () => void state.start() };
    case 'starting':
      return { label: 'Starting…' };
    case 'running':
      return { label: 'Pause', action: () => void state.pause() };
    case 'pausing':
      return { label: 'Pausing…' };
    case 'paused':
      return { label: 'Continue', action: () => void state.resume() };
    default:
      return { label: 'Start' };
  }
}

const phaseNames: Readonly<Record<string, string>> = {
  generate: 'writing responses',
  score: 'scoring',
  update: 'updating the adapter',
};

function Status({ state }: { state: PlaygroundState }) {
  const error = state.error.value;
  const notice = state.notice.value;
  return (
    <div class="playground-status">
      <p role="status">{describeState(state)}</p>
      <StepBar state={state} />
      {error !== undefined && (
        <p role="alert" class="playground-error">
          {error}
        </p>
      )}
      {notice !== undefined && <p class="playground-notice">{notice}</p>}
    </div>
  );
}

/** How far the current step is. It changes too often to be read out. */
function StepBar({ state }: { state: PlaygroundState }) {
  const progress = state.progress.value;
  const isActive = ['running', 'pausing'].includes(state.phase.value);
  if (progress === undefined || !isActive) return null;
  const { phase, done, total } = progress;
  return (
    <p class="playground-progress" aria-hidden="true">
      <progress value={done} max={Math.max(1, total)} />
      {phaseNames[phase] ?? phase}
      {total > 1 && ` ${done}/${total}`}
    </p>
  );
}

function describeState(state: PlaygroundState): string {
  const step = state.run.value.step.value;
  const steps = `${step} step${step === 1 ? '' : 's'} done`;
  switch (state.phase.value) {
    case 'loading':
      return `Loading the model (${(state.bytes.value / 1e6).toFixed(1)} MB)`;
    case 'ready':
      return 'Ready';
    case 'starting':
      return 'Preparing the first step';
    case 'paused':
      return `Paused, ${steps}`;
    case 'ended':
      return `Ended, ${steps}`;
    case 'unusable':
      return 'The model cannot run';
    default:
      return state.pairs.question.value === undefined
        ? `Running, ${steps}`
        : `Waiting for you, ${steps}`;
  }
}
