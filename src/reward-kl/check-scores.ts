import { RewardError } from './reward-error.ts';
import type { RewardSample, Score } from './reward-source.ts';

interface Answer {
  /** The source's name. */
  readonly name: string;
  readonly samples: readonly RewardSample[];
  /** Index of the first sample, where only part of them was asked for. */
  readonly first?: number;
}

/** Takes a source's answer only if it has a finite number for each sample, or for each of its tokens. */
export function checkScores(
  answer: unknown,
  { name, samples, first = 0 }: Answer,
): readonly Score[] {
  const start = `Cannot use the scores of "${name}":`;
  if (!isList(answer)) {
    throw new RewardError(`${start} they must be a list of ${samples.length}, got ${show(answer)}`);
  }
  if (answer.length !== samples.length) {
    throw new RewardError(`${start} there must be ${samples.length}, got ${answer.length}`);
  }
  return samples.map(({ tokens }, i) => {
    const score = answer[i];
    const fault = isList(score)
      ? findTokenFault(score, tokens.length)
      : isScore(score)
        ? undefined
        : `must be a finite number, got ${show(score)}`;
    if (fault !== undefined) throw new RewardError(`${start} that of sample ${first + i} ${fault}`);
    return score as Score;
  });
}

function findTokenFault(scores: ArrayLike<unknown>, tokens: number): string | undefined {
  if (scores.length !== tokens) {
    return `must be one number, or one for each of its ${tokens} tokens, got ${scores.length}`;
  }
  const bad = Array.from(scores).findIndex((score) => !isScore(score));
  return bad < 0 ? undefined : `must be a finite number at token ${bad}, got ${show(scores[bad])}`;
}

/** Scores are kept as float32, in which large numbers are infinite too. */
function isScore(score: unknown): score is number {
  return typeof score === 'number' && Number.isFinite(Math.fround(score));
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function show(value: unknown): string {
  if (typeof value === 'number' || value === undefined || value === null) return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
