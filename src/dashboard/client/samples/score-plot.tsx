import { formatNumber } from './format-number.ts';
import { extentOf, meansByStep, placeBetween } from './plot-scale.ts';

const WIDTH = 300;
const HEIGHT = 60;

/** Scores by step: a dot for each, and a line through the means of the steps. */
export function ScorePlot({
  points,
}: {
  readonly points: readonly { readonly step: number; readonly score: number | null }[];
}) {
  const means = meansByStep(points);
  const steps = extentOf(means.map(({ step }) => step));
  const scores = extentOf(points.map(({ score }) => score));
  const [first, last] = [means[0], means.at(-1)];
  if (!steps || !scores || !first || !last) return <p class="samples-muted">No scores.</p>;
  const x = (step: number) => (WIDTH * placeBetween(step, steps)).toFixed(1);
  const y = (score: number) => (HEIGHT * (1 - placeBetween(score, scores))).toFixed(1);
  const dots = points.flatMap(({ step, score }) =>
    score === null ? [] : `M${x(step)} ${y(score)}h0`,
  );
  const line = means.map(({ step, mean }, i) => `${i === 0 ? 'M' : 'L'}${x(step)} ${y(mean)}`);
  const summary = `Score by step: ${formatNumber(first.mean)} at step ${first.step}, ${formatNumber(last.mean)} at step ${last.step}`;
  return (
    <figure class="samples-plot">
      <span class="samples-plot-y">
        <span>{formatNumber(scores.max)}</span>
        <span>{formatNumber(scores.min)}</span>
      </span>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        <path class="samples-plot-line" d={line.join('')} />
        <path class="samples-plot-dots" d={dots.join('')} />
      </svg>
      <figcaption>
        <span>step {steps.min}</span>
        <span>score</span>
        <span>step {steps.max}</span>
      </figcaption>
    </figure>
  );
}
