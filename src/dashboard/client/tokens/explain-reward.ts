import { placeRewards } from '../../../reward-kl/place-rewards.ts';
import { penaliseMissingEos, ScoreNormalizer } from '../../../reward-kl/score-normalizer.ts';
import { whitenWith } from '../../../reward-kl/whiten.ts';
import { formatExact, formatNumber } from '../format.ts';
import {
  type ArithmeticInput,
  type ArithmeticLine,
  arithmeticLine,
  withNumbers,
} from './arithmetic.ts';

/** The reward of a step: r_t = −β·KL_t plus the score if the step has it, and the whitened r′_t if
 *  rewards are whitened. */
export function explainReward(input: ArithmeticInput, step: number): ArithmeticLine[] {
  const { columns, config } = input;
  const recorded = recordedReward(input, step);
  const penalty = rewardAt(input, { step, score: 0 });
  const hasScore = rewardAt(input, { step, score: 1 }) !== penalty;
  const shapedScore = shapeScore(input);
  const score = hasScore ? (shapedScore ?? (recorded ?? Number.NaN) - penalty) : 0;
  const kl = config.klPlacement === 'reward' ? columns.kl[step] : undefined;
  const line = arithmeticLine({
    name: 'r_t',
    formula: rewardFormula({ hasPenalty: kl !== undefined, hasScore }),
    numbers: rewardNumbers({ kl, klCoef: columns.klCoef, score: hasScore ? score : undefined }),
    result: rewardAt(input, { step, score }),
    recorded,
    remark: hasScore ? describeScore(input, { score, shapedScore }) : undefined,
  });
  const r = line.differs
    ? { ...line, remark: describeRemainder((recorded ?? 0) - line.result) }
    : line;
  return config.whitenRewards ? whitenedLines(input, { step, r }) : [r];
}

/** r_t of a step if the response had this score, by the trainer's own placement. */
function rewardAt(
  { columns, config }: ArithmeticInput,
  { step, score }: { readonly step: number; readonly score: number },
): number {
  const length = columns.ids.length;
  const { rewards } = placeRewards(
    {
      scores: Float32Array.of(score),
      kl: Float32Array.from(columns.kl),
      offsets: Int32Array.of(0, length),
    },
    {
      klPlacement: config.klPlacement,
      rewardPlacement: config.rewardPlacement,
      klCoef: columns.klCoef,
      // Only a response that is shorter than this has a step after its last token.
      maxNewTokens: columns.rewards.length > length ? length + 1 : length,
    },
  );
  return rewards[step] ?? Number.NaN;
}

/** The score as it is in the rewards: penalised and clipped. Undefined if it was normalised with the
 *  scores of other responses, or is unknown.
 *  @example R=2, truncated, penalty ½, clip 1  →  1 */
export function shapeScore({ row, config }: ArithmeticInput): number | undefined {
  if (row === undefined || row.score === null || config.scoreNormalization !== 'none') {
    return undefined;
  }
  const { missingEosPenalty } = config;
  const penalised = penaliseMissingEos(row.score, { finished: row.finished, missingEosPenalty });
  return new ScoreNormalizer(config).normalize([penalised]).scores[0];
}

/** r_t before whitening; undefined if the run recorded only whitened rewards. */
function recordedReward(
  { columns: { rewards, rewardWhitening }, config }: ArithmeticInput,
  step: number,
): number | undefined {
  const reward = rewards[step];
  if (!config.whitenRewards || reward === undefined) return reward;
  if (!rewardWhitening) return undefined;
  const { mean, std } = rewardWhitening;
  return (reward - (config.centerRewards ? 0 : mean)) * std + mean;
}

function whitenedLines(
  { columns: { rewards, rewardWhitening }, config: { centerRewards } }: ArithmeticInput,
  { step, r }: { readonly step: number; readonly r: ArithmeticLine },
): ArithmeticLine[] {
  const recorded = rewards[step];
  if (!rewardWhitening) {
    const numbers = 'as recorded';
    const formula = 'r_t, whitened over the step';
    return [r, arithmeticLine({ name: 'r′_t', formula, numbers, result: recorded })];
  }
  const { mean, std } = rewardWhitening;
  const shiftMean = centerRewards;
  const whitened = whitenWith(Float32Array.of(r.result), { mean, std, shiftMean });
  return [
    { ...r, recorded: undefined },
    arithmeticLine({
      name: 'r′_t',
      formula: shiftMean ? '(r_t − μ)/σ' : '(r_t − μ)/σ + μ',
      numbers: shiftMean
        ? withNumbers`(${r.result} − ${mean})/${std}`
        : withNumbers`(${r.result} − ${mean})/${std} + ${mean}`,
      result: whitened[0],
      recorded,
    }),
  ];
}

function rewardFormula({
  hasPenalty,
  hasScore,
}: {
  readonly hasPenalty: boolean;
  readonly hasScore: boolean;
}): string {
  if (!hasPenalty) return hasScore ? 'score' : '0';
  return hasScore ? '−β·KL_t + score' : '−β·KL_t';
}

function rewardNumbers({
  kl,
  klCoef,
  score,
}: {
  readonly kl: number | undefined;
  readonly klCoef: number;
  readonly score: number | undefined;
}): string {
  if (kl === undefined) return formatExact(score ?? 0);
  return score === undefined
    ? withNumbers`−${klCoef}·${kl}`
    : withNumbers`−${klCoef}·${kl} + ${score}`;
}

/** How the score changed on its way into the reward; undefined if it did not. */
function describeScore(
  { row, config }: ArithmeticInput,
  { score, shapedScore }: { readonly score: number; readonly shapedScore: number | undefined },
): string | undefined {
  const original = row?.score ?? null;
  if (original === null) return 'the score is derived from the recorded r_t';
  if (shapedScore === undefined) {
    return `scoreNormalization ${config.scoreNormalization} changed the score from ${formatNumber(original)} to ${formatNumber(score)}, derived from the recorded r_t`;
  }
  return shapedScore === Math.fround(original)
    ? undefined
    : `missingEosPenalty and scoreClip changed the score from ${formatNumber(original)} to ${formatNumber(shapedScore)}`;
}

function describeRemainder(remainder: number): string {
  return `the remaining ${formatNumber(remainder)} comes from neither the KL penalty nor the score; a reward source that scores single tokens would explain it`;
}
