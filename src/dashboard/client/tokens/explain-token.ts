import { whitenWith } from '../../../reward-kl/whiten.ts';
import { klDivergence } from '../../../token-attribution/kl-divergence.ts';
import { clippedLoss, policyRatio, rolloutWeights } from '../../../training/policy-loss.ts';
import { formatExact, formatNumber } from '../format.ts';
import {
  type ArithmeticConfig,
  type ArithmeticInput,
  type ArithmeticLine,
  arithmeticLine,
  type Recomputed,
  recompute,
  withNumbers,
} from './arithmetic.ts';
import { explainReward } from './explain-reward.ts';

/** How a token's numbers are computed, in order. */
export interface TokenArithmetic {
  readonly lines: readonly ArithmeticLine[];
  /** The step after the last token; empty for other tokens and if there is no such step. */
  readonly afterLast: readonly ArithmeticLine[];
  /** What the lines cannot show. */
  readonly notes: readonly string[];
}

/** The arithmetic of token t with its numbers: KL_t, r_t, δ_t, A_t, the whitened A′_t, G_t and the
 *  loss ℓ_t. */
export function explainToken(input: ArithmeticInput, t: number): TokenArithmetic {
  const { columns, config } = input;
  const recomputed = recompute(columns, config);
  const last = columns.ids.length - 1;
  const steps = columns.rewards.length;
  const explainStep = (step: number) => [
    ...explainReward(input, step),
    ...explainAdvantage(input, { t: step, recomputed }),
  ];
  return {
    lines: [explainKl(input, t), ...explainStep(t), ...explainLoss(input, t)],
    afterLast: t === last && steps > columns.ids.length ? explainStep(steps - 1) : [],
    notes: collectNotes(input),
  };
}

const klFormulas: Readonly<Record<ArithmeticConfig['klEstimator'], string>> = {
  k1: 'log π − log π_ref',
  k2: '½·(log π − log π_ref)²',
  k3: 'e^−d − 1 + d, d = log π − log π_ref',
};

function explainKl({ columns, config }: ArithmeticInput, t: number): ArithmeticLine {
  const { klEstimator } = config;
  const [logprob, refLogprob] = [columns.logprobs[t], columns.refLogprobs[t]];
  const d = (logprob ?? Number.NaN) - (refLogprob ?? Number.NaN);
  const suffix = klEstimator === 'k1' ? '' : ` = d = ${formatExact(d)}`;
  return arithmeticLine({
    name: 'KL_t',
    formula: klFormulas[klEstimator],
    numbers: withNumbers`${logprob} − ${refLogprob}${suffix}`,
    result: klDivergence(klEstimator, d),
    recorded: columns.kl[t],
  });
}

interface RecomputedStep {
  readonly t: number;
  readonly recomputed: Recomputed;
}

function explainAdvantage(
  { columns, config }: ArithmeticInput,
  { t, recomputed }: RecomputedStep,
): ArithmeticLine[] {
  const reward = config.whitenRewards ? 'r′' : 'r';
  const lines =
    recomputed.errors === undefined
      ? explainReturn(columns, { t, recomputed, reward })
      : explainGae(columns, { t, recomputed, reward });
  const A = recomputed.advantages?.[t];
  const isToken = t < columns.ids.length;
  if (columns.whitening === null || A === undefined || !isToken) return lines;
  const { mean, std } = columns.whitening;
  const whitened = arithmeticLine({
    name: 'A′_t',
    formula: '(A_t − μ)/σ',
    numbers: withNumbers`(${A} − ${mean})/${std}`,
    result: whitenWith(Float32Array.of(A), { mean, std, shiftMean: true })[0],
    recorded: columns.advantages[t],
  });
  return [...lines, whitened];
}

/** δ_t, A_t and G_t of GAE. */
function explainGae(
  {
    rewards,
    values,
    gamma,
    lambda,
    whitening,
    advantages,
    returns,
    ids,
  }: ArithmeticInput['columns'],
  { t, recomputed, reward }: RecomputedStep & { readonly reward: string },
): ArithmeticLine[] {
  const [V, nextV] = [values[t], values[t + 1] ?? 0];
  const [δ, A] = [recomputed.errors?.[t], recomputed.advantages?.[t]];
  const nextA = recomputed.advantages?.[t + 1] ?? 0;
  const isRecorded = whitening === null && t < ids.length;
  return [
    arithmeticLine({
      name: 'δ_t',
      formula: `${reward}_t + γ·V_{t+1} − V_t`,
      numbers: withNumbers`${rewards[t]} + ${gamma}·${nextV} − ${V}`,
      result: δ,
    }),
    arithmeticLine({
      name: 'A_t',
      formula: 'δ_t + γ·λ·A_{t+1}',
      numbers: withNumbers`${δ} + ${gamma}·${lambda}·${nextA}`,
      result: A,
      recorded: isRecorded ? advantages[t] : undefined,
    }),
    arithmeticLine({
      name: 'G_t',
      formula: 'A_t + V_t',
      numbers: withNumbers`${A} + ${V}`,
      result: recomputed.returns[t],
      recorded: returns[t],
    }),
  ];
}

/** G_t of the estimators without a value model, then A_t or, if A_t depends on other responses, R. */
function explainReturn(
  { gamma, rewards, returns, whitening, advantages }: ArithmeticInput['columns'],
  { t, recomputed, reward }: RecomputedStep & { readonly reward: string },
): ArithmeticLine[] {
  const G = recomputed.returns;
  const returnLine = arithmeticLine({
    name: 'G_t',
    formula: `${reward}_t + γ·G_{t+1}`,
    numbers: withNumbers`${rewards[t]} + ${gamma}·${G[t + 1] ?? 0}`,
    result: G[t],
    recorded: returns[t],
  });
  if (recomputed.advantages === undefined) {
    const total = rewards.reduce((sum, r) => sum + r, 0);
    const numbers = `sum of ${rewards.length} rewards`;
    const formula = `Σ_t ${reward}_t`;
    return [returnLine, arithmeticLine({ name: 'R', formula, numbers, result: total })];
  }
  const advantageLine = arithmeticLine({
    name: 'A_t',
    formula: 'G_t',
    numbers: formatExact(G[t]),
    result: recomputed.advantages[t],
    recorded: whitening === null ? advantages[t] : undefined,
  });
  return [returnLine, advantageLine];
}

/** The clipped loss ℓ_t if the update saw the token, and its weight w_t if it has one. */
function explainLoss(input: ArithmeticInput, t: number): ArithmeticLine[] {
  const { columns, config } = input;
  const { clipEpsilon: low, clipEpsilonHigh: high = low, dualClip: dual } = config;
  const A = columns.advantages[t];
  const ratio = config.ratioLevel === 'sequence' ? meanRatio(columns.ratios) : columns.ratios[t];
  if (A === undefined || ratio === null || ratio === undefined) return [];
  const { loss, clipped } = clippedLoss(ratio, A, { low, high, dual });
  const bound = dual !== undefined && A < 0 ? `, at most −${dual}·A` : '';
  const range = `${formatExact(1 - low)}, ${formatExact(1 + high)}`;
  const weight = explainWeight(input, t);
  const weightNumber = weight === undefined ? '' : `${formatExact(weight.result)}·`;
  const lossLine = arithmeticLine({
    name: 'ℓ_t',
    formula: `−${weight === undefined ? '' : 'w_t·'}min(ρ·A, clip(ρ, 1 − ε, 1 + ε)·A)${bound}`,
    numbers: withNumbers`−${weightNumber}min(${ratio}·${A}, clip(${ratio}, ${range})·${A})`,
    result: (weight?.result ?? 1) * loss,
    remark: clipped ? 'ρ is clipped, so the gradient is 0' : undefined,
  });
  return weight === undefined ? [lossLine] : [weight, lossLine];
}

/** The importance weight of a token that was not sampled from π_old; undefined if it has none, or
 *  the run did not record what is needed.
 *  @example log π − log π_sampling = ln 4, cap 2  →  min(4, 2) = 2 */
function explainWeight(
  { columns, config: { rolloutCorrection: cap } }: ArithmeticInput,
  t: number,
): ArithmeticLine | undefined {
  const [logprob, samplingLogprob] = [columns.logprobs[t], columns.samplingLogprobs?.[t]];
  if (logprob === undefined || samplingLogprob === undefined) return undefined;
  const token = {
    logprobs: Float32Array.of(logprob),
    samplingLogprobs: Float32Array.of(samplingLogprob),
  };
  const weight = rolloutWeights(token, cap)?.[0];
  if (weight === undefined) return undefined;
  return arithmeticLine({
    name: 'w_t',
    formula: 'min(π/π_{sampling}, cap)',
    numbers: withNumbers`min(e^(${logprob} − ${samplingLogprob}), ${cap})`,
    result: weight,
    remark: weight >= Math.fround(cap) ? `capped at ${formatNumber(cap)}` : undefined,
  });
}

/** ρ of a whole response: the geometric mean of its tokens' ratios; null if one is missing. */
function meanRatio(ratios: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const ratio of ratios) {
    if (ratio === null) return null;
    sum += Math.log(ratio);
  }
  return policyRatio(sum / ratios.length).ratio;
}

const groupNotes: Readonly<Partial<Record<ArithmeticConfig['advantageEstimator'], string>>> = {
  rloo: ': A is R minus the mean R of the other responses to this prompt, the same for every token',
  grpo: ': A is (R − μ)/(σ + 1e-4) over the responses to this prompt, the same for every token',
};

function collectNotes({ columns, config }: ArithmeticInput): string[] {
  const { advantageEstimator: estimator, rolloutCorrection: cap } = config;
  const notes: string[] = [];
  if (estimator !== 'gae') {
    notes.push(
      `Advantages come from ${estimator}, so GAE's δ_t and A_t do not apply and there is no value model${groupNotes[estimator] ?? ''}.`,
    );
  }
  if (config.whitenRewards) {
    notes.push(
      columns.rewardWhitening
        ? 'Rewards are whitened over the whole step (whitenRewards): μ and σ are the mean and standard deviation of all its r_t.'
        : 'Rewards are whitened over the whole step (whitenRewards). This run did not record their mean and standard deviation, so r′_t is not recomputed.',
    );
  }
  if (config.klPlacement === 'loss') notes.push('The KL penalty is part of the loss, not of r_t.');
  if (config.ratioLevel === 'sequence') {
    notes.push("ρ is the ratio of the whole response: the geometric mean of its tokens' ratios.");
  }
  const sampling = describeSampling(config);
  if (sampling !== undefined && cap > 0 && columns.samplingLogprobs === undefined) {
    notes.push(
      `Tokens are sampled with ${sampling}, so the run's loss is w_t·ℓ_t with w_t = min(π/π_{sampling}, ${formatNumber(cap)}). The run did not record π_{sampling}, so ℓ_t is shown without w_t.`,
    );
  }
  if (columns.ratios.every((ratio) => ratio === null)) {
    notes.push('There are no ratios: the update did not reach this response.');
  }
  return notes;
}

/** Settings that make the sampling distribution differ from π_old; undefined if there are none.
 *  @example rolloutPrecision int8, topP 0.9  →  'rolloutPrecision int8 and topP 0.9' */
function describeSampling(config: ArithmeticConfig): string | undefined {
  const { rolloutPrecision, topK, topP, minP } = config;
  const reasons = [
    ...(rolloutPrecision.startsWith('int8') ? [`rolloutPrecision ${rolloutPrecision}`] : []),
    ...(topK === undefined ? [] : [`topK ${topK}`]),
    ...(topP === 1 ? [] : [`topP ${topP}`]),
    ...(minP === 0 ? [] : [`minP ${minP}`]),
  ];
  return reasons.length === 0 ? undefined : reasons.join(' and ');
}
