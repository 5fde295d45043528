import { clippedLoss } from '../../../training/policy-loss-clip.ts';
import { formatNumber } from '../samples/format-number.ts';
import type { ArithmeticInput } from './arithmetic.ts';
import { type ArithmeticLine, lineOf, written } from './arithmetic-line.ts';

/** The clipped loss, where the update has seen the token, and its weight, where it has one. */
export function explainLoss(input: ArithmeticInput, t: number): ArithmeticLine[] {
  const { columns, config } = input;
  const A = columns.advantages[t];
  const ratio = config.ratioLevel === 'sequence' ? meanRatio(columns.ratios) : columns.ratios[t];
  if (config.clip === undefined || A === undefined) return [];
  if (ratio === null || ratio === undefined) return [];
  const { low, high, dual } = config.clip;
  const cut = Math.min(Math.max(ratio, 1 - low), 1 + high);
  const { loss, clipped } = clippedLoss(ratio, A, config.clip);
  const bound = dual !== undefined && A < 0 ? `, at most −${dual}·A` : '';
  const weight = explainWeight(input, t);
  const times = weight === undefined ? '' : `${formatNumber(weight.result)}·`;
  return [
    ...(weight === undefined ? [] : [weight]),
    lineOf({
      name: 'ℓ_t',
      formula: `−${weight === undefined ? '' : 'w_t·'}min(ρ·A, clip(ρ, 1 − ε, 1 + ε)·A)${bound}`,
      numbers: written`−${times}min(${ratio}·${A}, ${cut}·${A})`,
      result: (weight?.result ?? 1) * loss,
      remark: clipped
        ? `ρ is clipped to ${formatNumber(1 - low)}…${formatNumber(1 + high)}: no gradient`
        : undefined,
    }),
  ];
}

/** The weight of a token that was drawn otherwise than by π_old; undefined where it has none, or the
 *  record does not tell.
 *  @example log π − log π_drawn = ln 4, cap 2  →  min(4, 2) = 2 */
function explainWeight(
  { columns, config: { weightCap } }: ArithmeticInput,
  t: number,
): ArithmeticLine | undefined {
  const [log, drawn] = [columns.logprobs[t], columns.samplingLogprobs?.[t]];
  if (log === undefined || drawn === undefined || weightCap === 0) return undefined;
  const weight = Math.exp(log - drawn);
  return lineOf({
    name: 'w_t',
    formula: 'min(π/π_{drawn}, cap)',
    numbers: written`min(e^(${log} − ${drawn}), ${weightCap})`,
    result: Math.min(weight, weightCap),
    remark: weight > weightCap ? `cut at ${formatNumber(weightCap)}` : undefined,
  });
}

/** ρ of a whole response, the geometric mean of its tokens'; null where one was never seen. */
function meanRatio(ratios: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const ratio of ratios) {
    if (ratio === null) return null;
    sum += Math.log(ratio);
  }
  return Math.exp(sum / ratios.length);
}
