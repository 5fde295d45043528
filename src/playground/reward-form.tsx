import { useId } from 'preact/hooks';
import { compileFormula, formulaNames } from './formula.ts';
import type { PlaygroundState } from './playground-state.ts';
import type { RewardKind, RewardSettings } from './rewards.ts';

const kinds: readonly (readonly [RewardKind, string, string])[] = [
  ['brevity', 'Brevity', 'Short texts score more'],
  ['keyword', 'A keyword', 'Texts with these words score more'],
  ['formula', 'A formula', 'Your own score'],
  ['thumbs', 'Your thumbs', 'You compare pairs of texts'],
];

/** Chooses the reward; fixed while a run exists. */
export function RewardForm({ state }: { state: PlaygroundState }) {
  const settings = state.reward.value;
  const isFixed = state.hasRun.value || state.phase.value === 'starting';
  const change = (part: Partial<RewardSettings>) => {
    state.reward.value = { ...settings, ...part };
  };
  return (
    <fieldset class="playground-field playground-reward" disabled={isFixed}>
      <legend class="playground-label">Reward</legend>
      {kinds.map(([kind, title, hint]) => (
        <div key={kind} class="playground-choice">
          <input
            type="radio"
            id={`reward-${kind}`}
            name="reward"
            value={kind}
            checked={settings.kind === kind}
            aria-describedby={`reward-${kind}-hint`}
            onChange={() => change({ kind })}
          />
          <label for={`reward-${kind}`}>{title}</label>
          <span id={`reward-${kind}-hint`} class="playground-hint">
            {hint}
          </span>
        </div>
      ))}
      <RewardField settings={settings} onChange={change} />
      {isFixed && <p class="playground-hint">Start over to change the reward.</p>}
    </fieldset>
  );
}

interface RewardFieldProps {
  readonly settings: RewardSettings;
  readonly onChange: (part: Partial<RewardSettings>) => void;
}

function RewardField({ settings, onChange }: RewardFieldProps) {
  const id = useId();
  if (settings.kind === 'brevity') {
    return (
      <p class="playground-detail">
        <label for={id}>Words for the full score</label>
        <input
          id={id}
          type="number"
          min="1"
          max="40"
          value={settings.target}
          onInput={({ currentTarget: { valueAsNumber } }) =>
            onChange({ target: Number.isFinite(valueAsNumber) ? Math.round(valueAsNumber) : 0 })
          }
        />
      </p>
    );
  }
  if (settings.kind === 'keyword') {
    return (
      <p class="playground-detail">
        <label for={id}>Words, separated by commas</label>
        <input
          id={id}
          type="text"
          value={settings.keyword}
          onInput={(event) => onChange({ keyword: event.currentTarget.value })}
        />
      </p>
    );
  }
  return settings.kind === 'formula' ? (
    <FormulaField settings={settings} onChange={onChange} />
  ) : null;
}

/** The formula, with its error while it is typed. */
function FormulaField({ settings: { formula }, onChange }: RewardFieldProps) {
  const id = useId();
  const error = findError(formula);
  return (
    <p class="playground-detail">
      <label for={id}>Score of a response</label>
      <textarea
        id={id}
        class="playground-formula"
        rows={3}
        spellcheck={false}
        value={formula}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-help`}
        onInput={(event) => onChange({ formula: event.currentTarget.value })}
      />
      <span id={`${id}-help`} class={error === undefined ? 'playground-hint' : 'playground-error'}>
        {error ?? describeNames()}
      </span>
    </p>
  );
}

function findError(formula: string): string | undefined {
  try {
    compileFormula(formula);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function describeNames(): string {
  const { variables, functions, searches } = formulaNames;
  return `${variables.join(', ')}; ${searches.map((name) => `${name}("…")`).join(', ')}; ${functions.join(', ')}; + − * / ^ < > && || ! ?:`;
}
