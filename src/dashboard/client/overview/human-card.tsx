import './human-card.css';
import {
  type HumanEvaluation,
  type HumanEvaluationRow,
  latestHumanEvaluations,
  type MeanRating,
} from '../../../run/human-evaluation.ts';
import type { EvaluationRow } from '../../api.ts';

/** How people judge a run's policy, one block per comparison; nothing if nobody has judged it. */
export function HumanCard({ evaluations }: { evaluations: readonly EvaluationRow[] }) {
  const rows = latestHumanEvaluations(evaluations);
  if (rows.length === 0) return null;
  return (
    <section class="panel human-card" aria-label="Human evaluation">
      <h2>Human evaluation</h2>
      {rows.toReversed().map((row) => (
        <Comparison key={row.human.queue} row={row} />
      ))}
    </section>
  );
}

function Comparison({ row: { step, human } }: { row: HumanEvaluationRow }) {
  const { winRate, judged, wins, ties, losses, ratings } = human;
  return (
    <div class="human-comparison">
      <p>
        People prefer the policy of step {step} to {nameOther(human)} on{' '}
        <strong>{percent(winRate)}</strong> of {judged} {judged === 1 ? 'prompt' : 'prompts'}.
      </p>
      <IntervalBar human={human} />
      <dl class="human-facts">
        <dt>95% interval</dt>
        <dd>{human.interval.map(percent).join(' to ')}</dd>
        <dt>Won, tied, lost</dt>
        <dd>
          {wins}, {ties}, {losses}
        </dd>
        {ratings !== null && (
          <>
            <dt>Mean rating</dt>
            <dd>
              {ratings.policy.mean.toFixed(2)} against {ratings.other.mean.toFixed(2)} of 5,
              difference {describeRating(ratings.difference)}
            </dd>
          </>
        )}
        <dt>Labellers</dt>
        <dd>
          {human.labellers}, {human.answers} answers
        </dd>
        <dt>Agreement</dt>
        <dd>{describeAgreement(human)}</dd>
      </dl>
    </div>
  );
}

/** The interval of the win rate on a line from 0 to 100 %, with a mark at 50 %. */
function IntervalBar({ human: { winRate, interval } }: { human: HumanEvaluation }) {
  const [low, high] = interval.map((x) => 100 * x) as [number, number];
  return (
    <svg class="human-interval" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="human-track" x="0" y="2" width="100" height="2" />
      <rect class="human-range" x={low} y="1" width={high - low} height="4" />
      <rect class="human-half" x="49.8" y="0" width="0.4" height="6" />
      <rect class="human-rate" x={100 * winRate - 0.6} y="0" width="1.2" height="6" />
    </svg>
  );
}

function nameOther({ against }: HumanEvaluation): string {
  return against === 'reference' ? 'the reference' : `the policy of ${against}`;
}

function describeRating({ mean, interval }: MeanRating): string {
  const range = interval === null ? '' : ` (${interval.map((x) => x.toFixed(2)).join(' to ')})`;
  return `${mean.toFixed(2)}${range}`;
}

/** @example 0.8 with α = 0.5  →  'on 80.0%, Krippendorff’s α 0.50' */
export function describeAgreement({
  agreement,
  alpha,
}: Pick<HumanEvaluation, 'agreement' | 'alpha'>): string {
  if (agreement === null) return 'unknown: no task has answers from several people';
  return `on ${percent(agreement)}${alpha === null ? '' : `, Krippendorff’s α ${alpha.toFixed(2)}`}`;
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)}%`;
}
