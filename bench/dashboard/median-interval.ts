import { randomStream } from '../../src/engine/random/random-stream.ts';
import { median } from '../measure.ts';

const DRAWS = 10_000;

/** 95 % bootstrap confidence interval of the median: resamples the values with replacement and takes
 *  the middle 95 % of the medians. */
export function medianInterval(values: readonly number[]): [number, number] {
  const random = randomStream(0, 'median-interval');
  const medians = Array.from({ length: DRAWS }, () =>
    median(values.map(() => values[random.integer(values.length)]!)),
  ).sort((a, b) => a - b);
  return [medians[0.025 * DRAWS]!, medians[0.975 * DRAWS - 1]!];
}
