import { useState } from 'preact/hooks';
import type { DashboardSource, RunSummary } from '../../api.ts';
import {
  betterOf,
  type ComparedSample,
  type ComparedStep,
  comparedSteps,
} from './evaluation-rows.ts';
import { formatNumber } from './format-number.ts';
import { TextBlock } from './text-block.tsx';
import { useLoaded } from './use-loaded.ts';

/** Greedy responses of policy and reference side by side, of one evaluation at a time. */
export function EvaluationTab({
  source,
  run,
}: {
  readonly source: DashboardSource;
  readonly run: RunSummary;
}) {
  const [chosen, setChosen] = useState<number>();
  const { value, error } = useLoaded(`${run.id} ${run.counts.evaluations}`, async () =>
    comparedSteps(await source.evaluations(run.id)),
  );
  if (error !== undefined) return <p role="alert">{error}</p>;
  if (value === undefined) return <p class="samples-muted">Loading…</p>;
  const shown = value.find(({ step }) => step === chosen) ?? value[0];
  if (shown === undefined) {
    return <p class="samples-muted">No evaluation of this run has responses yet.</p>;
  }
  return (
    <>
      <StepChoice steps={value} shown={shown} onChoose={setChosen} />
      {shown.samples.map((sample, i) => (
        <Comparison key={i} sample={sample} />
      ))}
    </>
  );
}

function StepChoice({
  steps,
  shown,
  onChoose,
}: {
  readonly steps: readonly ComparedStep[];
  readonly shown: ComparedStep;
  readonly onChoose: (step: number) => void;
}) {
  const place = steps.indexOf(shown);
  const [older, newer] = [steps[place + 1], steps[place - 1]];
  return (
    <div class="samples-evaluation-head">
      <button
        type="button"
        disabled={older === undefined}
        onClick={() => older && onChoose(older.step)}
      >
        ← Earlier
      </button>
      <label>
        Evaluation at{' '}
        <select
          value={String(shown.step)}
          onChange={(event) => onChoose(Number(event.currentTarget.value))}
        >
          {steps.map(({ step }) => (
            <option key={step} value={String(step)}>
              step {step}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        disabled={newer === undefined}
        onClick={() => newer && onChoose(newer.step)}
      >
        Later →
      </button>
      <span class="samples-muted">
        greedy reward {formatNumber(shown.greedyReward)} · wins {percent(shown.winRate)} of prompts
        against the reference
      </span>
    </div>
  );
}

const verdicts = {
  policy: '▲ policy scores higher',
  reference: '▼ reference scores higher',
  tie: '= same score',
};

function Comparison({ sample }: { readonly sample: ComparedSample }) {
  const better = betterOf(sample);
  return (
    <article class="samples-comparison">
      <h2>Prompt</h2>
      <TextBlock label="Prompt" text={sample.prompt} />
      {better !== undefined && (
        <p class={`samples-verdict samples-verdict-${better}`}>{verdicts[better]}</p>
      )}
      <div class="samples-sides">
        <div>
          <h3>Policy, score {formatNumber(sample.score)}</h3>
          <TextBlock label="Policy's response" text={sample.response} />
        </div>
        <div>
          <h3>Reference, score {formatNumber(sample.refScore)}</h3>
          <TextBlock label="Reference's response" text={sample.refResponse} />
        </div>
      </div>
    </article>
  );
}

function percent(part: number | null): string {
  return part === null ? '–' : `${formatNumber(Math.round(1000 * part) / 10)}%`;
}
