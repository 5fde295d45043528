import { formatNumber } from '../samples/format-number.ts';
import { type ArithmeticInput, klOf, type Recomputed, recompute, whitened } from './arithmetic.ts';
import { type ArithmeticLine, lineOf, written } from './arithmetic-line.ts';
import { explainLoss } from './explain-loss.ts';
import { explainReward } from './explain-reward.ts';

/** Everything that makes a token's numbers, in order. */
export interface TokenArithmetic {
  readonly lines: readonly ArithmeticLine[];
  /** The step after the last token, where the token is the last and there is such a step. */
  readonly after: readonly ArithmeticLine[];
  /** What the lines cannot say. */
  readonly notes: readonly string[];
}

/** The arithmetic of token t with its real numbers. Symbols are those of the formulas:
 *  KL_t, r_t, δ_t, A_t, its whitening A′_t, G_t, ρ_t and the loss ℓ_t. */
export function explainToken(input: ArithmeticInput, t: number): TokenArithmetic {
  const { columns, config } = input;
  const again = recompute(columns, config);
  const last = columns.ids.length - 1;
  const steps = columns.rewards.length;
  const lines = [
    explainKl(input, t),
    ...explainReward(input, { step: t, rewards: again.rewards }),
    ...explainAdvantage(input, { t, again }),
    ...explainLoss(input, t),
  ];
  const hasAfter = t === last && steps > columns.ids.length;
  const after = hasAfter
    ? [
        ...explainReward(input, { step: steps - 1, rewards: again.rewards }),
        ...explainAdvantage(input, { t: steps - 1, again }),
      ]
    : [];
  return { lines, after, notes: notesOf(input) };
}

function explainKl({ columns, config }: ArithmeticInput, t: number): ArithmeticLine {
  const [log, ref] = [columns.logprobs[t], columns.refLogprobs[t]];
  const d = (log ?? Number.NaN) - (ref ?? Number.NaN);
  const forms: Readonly<Record<string, string>> = {
    k2: '½·(log π − log π_ref)²',
    k3: 'e^−d − 1 + d, d = log π − log π_ref',
  };
  return lineOf({
    name: 'KL_t',
    formula: forms[config.klEstimator] ?? 'log π − log π_ref',
    numbers: written`${log} − ${ref}${config.klEstimator === 'k1' ? '' : ` = d = ${formatNumber(d)}`}`,
    result: klOf(d, config.klEstimator),
    stored: columns.kl[t],
  });
}

function explainAdvantage(
  { columns, config }: ArithmeticInput,
  { t, again }: { readonly t: number; readonly again: Recomputed },
): ArithmeticLine[] {
  const lines =
    again.errors === undefined
      ? explainReturn(columns, { t, again })
      : explainGae(columns, { t, again, primed: config.whitenRewards });
  const A = again.advantages?.[t];
  const isToken = t < columns.ids.length;
  if (columns.whitening === null || A === undefined || !isToken) return lines;
  const { mean, std } = columns.whitening;
  const white = lineOf({
    name: 'A′_t',
    formula: '(A_t − μ)/√(σ² + 1e-8)',
    numbers: written`(${A} − ${mean})/√(${std}² + 1e-8)`,
    result: whitened(A, columns.whitening),
    stored: columns.advantages[t],
  });
  return [...lines, white];
}

/** δ_t, A_t and G_t of GAE. */
function explainGae(
  { values, gamma, lambda, whitening, advantages, returns, ids }: ArithmeticInput['columns'],
  {
    t,
    again,
    primed,
  }: { readonly t: number; readonly again: Recomputed; readonly primed: boolean },
): ArithmeticLine[] {
  const [V, next] = [values[t], values[t + 1] ?? 0];
  const [δ, A, later] = [again.errors?.[t], again.advantages?.[t], again.advantages?.[t + 1] ?? 0];
  const isPlain = whitening === null && t < ids.length;
  return [
    lineOf({
      name: 'δ_t',
      formula: `${primed ? 'r′_t' : 'r_t'} + γ·V_{t+1} − V_t`,
      numbers: written`${again.rewards[t]} + ${gamma}·${next} − ${V}`,
      result: δ,
    }),
    lineOf({
      name: 'A_t',
      formula: 'δ_t + γ·λ·A_{t+1}',
      numbers: written`${δ} + ${gamma}·${lambda}·${later}`,
      result: A,
      stored: isPlain ? advantages[t] : undefined,
    }),
    lineOf({
      name: 'G_t',
      formula: 'A_t + V_t',
      numbers: written`${A} + ${V}`,
      result: again.returns[t],
      stored: returns[t],
    }),
  ];
}

/** G_t of the estimators without a value model, and what of A_t follows from one response. */
function explainReturn(
  { gamma, rewards, returns, whitening, advantages }: ArithmeticInput['columns'],
  { t, again }: { readonly t: number; readonly again: Recomputed },
): ArithmeticLine[] {
  const G = lineOf({
    name: 'G_t',
    formula: 'r_t + γ·G_{t+1}',
    numbers: written`${again.rewards[t]} + ${gamma}·${again.returns[t + 1] ?? 0}`,
    result: again.returns[t],
    stored: returns[t],
  });
  if (again.advantages === undefined) {
    const total = again.rewards.reduce((sum, r) => sum + r, 0);
    const numbers = `sum of ${rewards.length} rewards`;
    const R = lineOf({ name: 'R', formula: 'Σ_t r_t', numbers, result: total });
    return [G, R];
  }
  const A = lineOf({
    name: 'A_t',
    formula: 'G_t',
    numbers: formatNumber(again.returns[t]),
    result: again.advantages[t],
    stored: whitening === null ? advantages[t] : undefined,
  });
  return [G, A];
}

function notesOf({ columns, config }: ArithmeticInput): string[] {
  const { advantageEstimator: estimator } = config;
  const notes: string[] = [];
  if (estimator !== 'gae') {
    const group = {
      rloo: ': A is R minus the mean R of the other responses to this prompt, the same for every token',
      grpo: ': A is (R − μ)/(σ + 1e-4) over the responses to this prompt, the same for every token',
    }[estimator];
    notes.push(
      `This run's advantages are by ${estimator}, so GAE's formulas of δ_t and A_t do not apply, and there is no value model${group ?? ''}.`,
    );
  }
  if (config.whitenRewards) {
    notes.push(
      'Rewards were scaled over the whole step (whitenRewards): r′_t is read back from the returns, so that G_t agrees by construction.',
    );
  }
  if (config.klPlacement === 'loss') notes.push('The KL penalty stands in the loss, not in r_t.');
  if (config.ratioLevel === 'sequence') {
    notes.push('ρ is of the whole response: the geometric mean of the ratios of its tokens.');
  }
  const isWeighted = config.drawnBy !== undefined && config.weightCap > 0;
  if (isWeighted && columns.samplingLogprobs === undefined) {
    notes.push(
      `Tokens are drawn by ${config.drawnBy}, so the run's loss is w_t·ℓ_t with w_t = min(π/π_{drawn}, ${formatNumber(config.weightCap)}); π_{drawn} was not written down, so ℓ_t stands here without w_t.`,
    );
  }
  if (columns.ratios.every((ratio) => ratio === null)) {
    notes.push('No ratio is known: the update has not seen this response.');
  }
  return notes;
}
