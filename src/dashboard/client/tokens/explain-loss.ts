import { clippedLoss } from '../../../training/policy-loss-clip.ts';
import { formatNumber } from '../samples/format-number.ts';
import type { ArithmeticInput } from './arithmetic.ts';
import { type ArithmeticLine, lineOf, written } from './arithmetic-line.ts';

/** The clipped loss, where the update has seen the token. */
export function explainLoss({ columns, config }: ArithmeticInput, t: number): ArithmeticLine[] {
  const A = columns.advantages[t];
  const ratio = config.ratioLevel === 'sequence' ? meanRatio(columns.ratios) : columns.ratios[t];
  if (config.clip === undefined || A === undefined) return [];
  if (ratio === null || ratio === undefined) return [];
  const { low, high, dual } = config.clip;
  const cut = Math.min(Math.max(ratio, 1 - low), 1 + high);
  const { loss, clipped } = clippedLoss(ratio, A, config.clip);
  const bound = dual !== undefined && A < 0 ? `, at most −${dual}·A` : '';
  return [
    lineOf({
      name: 'ℓ_t',
      formula: `−min(ρ·A, clip(ρ, 1 − ε, 1 + ε)·A)${bound}`,
      numbers: written`−min(${ratio}·${A}, ${cut}·${A})`,
      result: loss,
      remark: clipped
        ? `ρ is clipped to ${formatNumber(1 - low)}…${formatNumber(1 + high)}: no gradient`
        : undefined,
    }),
  ];
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
