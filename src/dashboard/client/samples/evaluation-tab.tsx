import './evaluation-tab.css';
import { useState } from 'preact/hooks';
import type { DashboardSource, EvaluationRow, RunSummary } from '../../api.ts';
import { formatFixed, formatNumber, formatPercent } from '../format.ts';
import { useLoaded } from '../shell/hooks.ts';
import { Empty, explainNoComparisons } from './explain-empty.tsx';
import { TextBlock } from './text-block.tsx';

/** Greedy responses of the policy and the reference to one prompt. */
interface ComparedSample {
  readonly prompt: string;
  readonly response: string;
  readonly score: number | null;
  readonly refResponse: string;
  readonly refScore: number | null;
}

/** An evaluation that has responses. */
interface ComparedStep {
  readonly step: number;
  readonly greedyReward: number | null;
  readonly winRate: number | null;
  readonly samples: readonly ComparedSample[];
}

/** Greedy responses of the policy and the reference side by side, one evaluation at a time. */
export function EvaluationTab({
  source,
  run,
}: {
  readonly source: DashboardSource;
  readonly run: RunSummary;
}) {
  const [selected, setSelected] = useState<number>();
  const { value, error } = useLoaded(`${run.id} ${run.counts.evaluations}`, async () =>
    comparedSteps(await source.evaluations(run.id)),
  );
  if (error !== undefined) return <p role="alert">{error}</p>;
  if (value === undefined) return <p class="samples-muted">Loading…</p>;
  const shown = value.find(({ step }) => step === selected) ?? value[0];
  if (shown === undefined) {
    return <Empty source={source} run={run} explain={explainNoComparisons} />;
  }
  return (
    <>
      <StepSelect steps={value} shown={shown} onSelect={setSelected} />
      {shown.samples.map((sample, i) => (
        <Comparison key={i} sample={sample} />
      ))}
    </>
  );
}

function StepSelect({
  steps,
  shown,
  onSelect,
}: {
  readonly steps: readonly ComparedStep[];
  readonly shown: ComparedStep;
  readonly onSelect: (step: number) => void;
}) {
  const position = steps.indexOf(shown);
  const [older, newer] = [steps[position + 1], steps[position - 1]];
  return (
    <div class="samples-evaluation-head">
      <button
        type="button"
        disabled={older === undefined}
        onClick={() => older && onSelect(older.step)}
      >
        ← Earlier
      </button>
      <label>
        Evaluation at{' '}
        <select
          value={String(shown.step)}
          onChange={(event) => onSelect(Number(event.currentTarget.value))}
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
        onClick={() => newer && onSelect(newer.step)}
      >
        Later →
      </button>
      <span class="samples-muted">
        greedy reward {formatNumber(shown.greedyReward)} · beats the reference on{' '}
        {formatPercent(shown.winRate)} of prompts
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
  const winner = winnerOf(sample);
  return (
    <article class="samples-comparison">
      <h2>Prompt</h2>
      <TextBlock label="Prompt" text={sample.prompt} />
      {winner !== undefined && (
        <p class={`samples-verdict samples-verdict-${winner}`}>{verdicts[winner]}</p>
      )}
      <div class="samples-sides">
        <div>
          <h3>Policy, score {formatFixed(sample.score, 4)}</h3>
          <TextBlock label="Policy's response" text={sample.response} />
        </div>
        <div>
          <h3>Reference, score {formatFixed(sample.refScore, 4)}</h3>
          <TextBlock label="Reference's response" text={sample.refResponse} />
        </div>
      </div>
    </article>
  );
}

/** Evaluations with responses, the newest first; rows of validations have none and are left out. */
export function comparedSteps(rows: readonly EvaluationRow[]): ComparedStep[] {
  const steps = rows.flatMap((row) => {
    const samples = Array.isArray(row.samples) ? row.samples.flatMap(readSample) : [];
    if (samples.length === 0) return [];
    const performance = isRecord(row.performance) ? row.performance : {};
    return {
      step: row.step,
      greedyReward: numberOrNull(performance.greedyReward),
      winRate: numberOrNull(performance.winRate),
      samples,
    };
  });
  return steps.sort((a, b) => b.step - a.step);
}

/** Which of the two scores higher; undefined if a score is missing. */
export function winnerOf({
  score,
  refScore,
}: Pick<ComparedSample, 'score' | 'refScore'>): 'policy' | 'reference' | 'tie' | undefined {
  if (score === null || refScore === null) return undefined;
  if (score === refScore) return 'tie';
  return score > refScore ? 'policy' : 'reference';
}

function readSample(value: unknown): ComparedSample[] {
  if (!isRecord(value)) return [];
  const { prompt, response, refResponse } = value;
  if (typeof prompt !== 'string' || typeof response !== 'string') return [];
  if (typeof refResponse !== 'string') return [];
  const score = numberOrNull(value.score);
  return [{ prompt, response, score, refResponse, refScore: numberOrNull(value.refScore) }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
