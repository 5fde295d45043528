import { formatNumber } from '../format.ts';
import './score-plot.css';

const WIDTH = 300;
const HEIGHT = 60;

interface ScorePoint {
  readonly step: number;
  readonly score: number | null;
}

/** Scores by step: a dot per score, and a line through the mean of each step. */
export function ScorePlot({ points }: { readonly points: readonly ScorePoint[] }) {
  const means = meansByStep(points);
  const steps = extentOf(means.map(({ step }) => step));
  const scores = extentOf(points.map(({ score }) => score));
  const [first, last] = [means[0], means.at(-1)];
  if (!steps || !scores || !first || !last) return <p class="samples-muted">No scores.</p>;
  const x = (step: number) => (WIDTH * fractionBetween(step, steps)).toFixed(1);
  const y = (score: number) => (HEIGHT * (1 - fractionBetween(score, scores))).toFixed(1);
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
        <span>score: dots are responses, the line is the mean of a step</span>
        <span>step {steps.max}</span>
      </figcaption>
    </figure>
  );
}

interface Extent {
  readonly min: number;
  readonly max: number;
}

/** Smallest and largest of the finite numbers; undefined if there are none.
 *  @example [3, NaN, −1]  →  { min: −1, max: 3 } */
export function extentOf(numbers: Iterable<number | null>): Extent | undefined {
  let [min, max] = [Infinity, -Infinity];
  for (const x of numbers) {
    if (x === null || !Number.isFinite(x)) continue;
    min = Math.min(min, x);
    max = Math.max(max, x);
  }
  return min <= max ? { min, max } : undefined;
}

/** Where a number is in an interval: 0 at its start, 1 at its end, ½ if the interval is empty.
 *  @example 3 between 1 and 5  →  ½ */
export function fractionBetween(x: number, { min, max }: Extent): number {
  return max === min ? 0.5 : (x - min) / (max - min);
}

/** Mean score of each step, in order of steps.
 *  @example (1, 2), (1, 4), (3, 5)  →  (1, 3), (3, 5) */
export function meansByStep(
  points: readonly ScorePoint[],
): { readonly step: number; readonly mean: number }[] {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const { step, score } of points) {
    if (score === null) continue;
    const { sum, count } = sums.get(step) ?? { sum: 0, count: 0 };
    sums.set(step, { sum: sum + score, count: count + 1 });
  }
  return [...sums]
    .map(([step, { sum, count }]) => ({ step, mean: sum / count }))
    .sort((a, b) => a.step - b.step);
}
