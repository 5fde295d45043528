import { formatNumber } from '../samples/format-number.ts';
import { type ArithmeticInput, carriesScore, placedScore } from './arithmetic.ts';
import { type ArithmeticLine, lineOf, written } from './arithmetic-line.ts';

/** r_t of a step: r_t = −β·KL_t, and the score where it stands; with r′_t where rewards were scaled. */
export function explainReward(
  input: ArithmeticInput,
  { step, rewards }: { readonly step: number; readonly rewards: readonly number[] },
): ArithmeticLine[] {
  const { columns, config } = input;
  const stored = columns.rewards[step];
  const kl = config.klPlacement === 'reward' ? columns.kl[step] : undefined;
  const penalty = kl === undefined ? 0 : -columns.klCoef * kl;
  const carries = carriesScore(step, input);
  const known = placedScore(input);
  const score = carries ? (known ?? (stored ?? Number.NaN) - penalty) : 0;
  const result = penalty + score;
  const r = lineOf({
    name: 'r_t',
    formula: formulaOf(kl !== undefined, carries),
    numbers: numbersOf({ kl, klCoef: columns.klCoef, score: carries ? score : undefined }),
    result,
    stored,
    remark: remarkOf({ ...input, score, known, carries }),
  });
  const explained = r.differs ? { ...r, remark: describeRest((stored ?? 0) - result) } : r;
  if (!config.whitenRewards) return [explained];
  const scaled = lineOf({
    name: 'r′_t',
    formula: 'scaled over the step',
    numbers: 'read back from G',
    result: rewards[step],
  });
  return [explained, scaled];
}

function formulaOf(hasPenalty: boolean, carries: boolean): string {
  if (!hasPenalty) return carries ? 'score' : '0';
  return carries ? '−β·KL_t + score' : '−β·KL_t';
}

function numbersOf({
  kl,
  klCoef,
  score,
}: {
  readonly kl: number | undefined;
  readonly klCoef: number;
  readonly score: number | undefined;
}): string {
  if (kl === undefined) return formatNumber(score ?? 0);
  return score === undefined ? written`−${klCoef}·${kl}` : written`−${klCoef}·${kl} + ${score}`;
}

function remarkOf({
  row,
  config,
  score,
  known,
  carries,
}: ArithmeticInput & {
  readonly score: number;
  readonly known: number | undefined;
  readonly carries: boolean;
}): string | undefined {
  if (!carries) return undefined;
  const given = row?.score ?? null;
  if (given === null) return 'the score is read back from the stored r_t';
  if (known === undefined) {
    return `the score of ${formatNumber(given)} became ${formatNumber(score)} by scoreNormalization ${config.scoreNormalization}, read back from the stored r_t`;
  }
  return known === given
    ? undefined
    : `the score of ${formatNumber(given)} became ${formatNumber(known)} by missingEosPenalty and scoreClip`;
}

function describeRest(rest: number): string {
  return `the rest of ${formatNumber(rest)} is in neither: a source that scores single tokens would explain it`;
}
