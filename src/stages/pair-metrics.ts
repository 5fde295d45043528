import { preferenceLoss } from '../training/index.ts';
import type { PreferenceTexts } from './reward-texts.ts';

const BINS = 10;

/**
 * How well scores foresee preferences; scores stand side by side: chosen, rejected, chosen, …
 * accuracy: weight of pairs whose chosen side scores higher; ties of preference are left out
 * margin: mean s_chosen − s_rejected
 * calibration: Σ_bins (n_b/n)·|right_b − sure_b| with sure = σ(|d|), the expected calibration error
 * @example d = [ln 3, −ln 3], targets 1  →  accuracy ½, margin 0; both are ¾ sure, half are right: ¼
 */
export function pairMetrics(scores: Float32Array, pairs: readonly PreferenceTexts[]) {
  const weights = pairs.map(({ weight = 1 }) => weight);
  const totalWeight = sum(weights);
  const targets = pairs.map(({ target = 1 }) => target);
  const margins = pairs.map(({ margin = 0 }) => margin);
  const { loss, margin } = preferenceLoss({ scores, margins, targets, weights, totalWeight });
  const clear = pairs.flatMap((_, i) =>
    targets[i] === 0.5
      ? []
      : [
          {
            d: Math.sign(targets[i]! - 0.5) * (scores[2 * i]! - scores[2 * i + 1]!),
            w: weights[i]!,
          },
        ],
  );
  const clearWeight = sum(clear.map(({ w }) => w));
  const right = ({ d, w }: { d: number; w: number }) => w * (d === 0 ? 0.5 : Number(d > 0));
  return {
    loss,
    accuracy: sum(clear.map(right)) / clearWeight,
    margin: margin / totalWeight,
    calibration:
      calibrationError(clear.map((pair) => ({ ...pair, right: right(pair) }))) / clearWeight,
  };
}

/** Σ_bins |Σ w·right − Σ w·sure| */
function calibrationError(pairs: readonly { d: number; w: number; right: number }[]): number {
  const gaps = new Float64Array(BINS);
  for (const { d, w, right } of pairs) {
    const sure = 1 / (1 + Math.exp(-Math.abs(d)));
    const bin = Math.min(BINS - 1, Math.floor((sure - 0.5) * 2 * BINS));
    gaps[bin] = gaps[bin]! + right - w * sure;
  }
  return sum(Array.from(gaps, Math.abs));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, x) => total + x, 0);
}
