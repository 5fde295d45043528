import './headline-panel.css';
import { metricNotes } from 'virtual:metric-notes';
import type { RunSummary } from '../../api.ts';
import { findNote } from '../charts/metric-notes.ts';
import { formatFixed } from '../format.ts';
import type { RunData } from '../run-data.ts';
import { type Headline, headlinesOf } from './headline.ts';

/** The numbers that say how a run is doing, at its start and now. */
export function HeadlinePanel({ kind, data }: Pick<RunSummary, 'kind'> & { data: RunData }) {
  const { numbers, measuredOn, isEvaluated } = headlinesOf({
    kind,
    series: data.series.value,
    evaluations: data.evaluations.value,
    config: data.config.value,
  });
  if (numbers.length === 0) return null;
  return (
    <section class="panel headlines" aria-label="Headline numbers">
      <dl>
        {numbers.map((headline) => (
          <HeadlineNumber key={headline.name} headline={headline} />
        ))}
      </dl>
      <p class="headline-note">
        Measured on {measuredOn}
        {numbers.some(({ interval }) => interval) && ', with 95% intervals'}.
        {kind === 'ppo' &&
          !isEvaluated &&
          ' Set --validation-file to measure held-out prompts and the win rate over the reference.'}
      </p>
    </section>
  );
}

function HeadlineNumber({ headline }: { headline: Headline }) {
  const { name, metric, start, now, interval, isPercent } = headline;
  const unit = isPercent ? '—' : (findNote(metricNotes, metric)?.unit ?? '—');
  const numbers = [start.value, now.value, interval?.low, interval?.high];
  const [from, to, low, high] = numbers.map((x) =>
    isPercent ? `${formatFixed(x === undefined ? x : 100 * x, 1)}%` : formatFixed(x, 3),
  );
  const isSame = start.step === now.step;
  return (
    <div title={`${metric}: step ${start.step} and step ${now.step}`}>
      <dt>
        {name}
        {unit !== '—' && <span class="unit"> {unit}</span>}
      </dt>
      <dd>
        {!isSame && (
          <>
            <span class="headline-start">{from}</span>
            <span class="headline-arrow" role="img" aria-label="to">
              →
            </span>
          </>
        )}
        <strong>{to}</strong>
      </dd>
      <dd class="headline-facts">
        {isSame ? `step ${now.step}` : `step ${start.step} → ${now.step}`}
        {interval !== undefined && (
          <>
            {' · '}
            <span class="headline-interval">
              {low} to {high}
            </span>
          </>
        )}
      </dd>
    </div>
  );
}
