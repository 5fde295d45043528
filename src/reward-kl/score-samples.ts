import { offsetsOf } from '../columns/index.ts';
import { toTimer } from '../http/timing.ts';

import { describeThrown, quoteSample } from './describe-failure.ts';
import {
  RewardError,
  type RewardModelRuns,
  type RewardSample,
  type RewardScore,
  type RewardSource,
} from './reward-source.ts';

export interface ScoreWithOptions extends RewardModelRuns {
  readonly signal: AbortSignal;
  /** Seconds without a new score after which a source without its own timeout counts as hung. */
  readonly timeout: number;
}

/** The checked scores of one source. If the source throws, hangs or returns something invalid, the
 *  error is one sentence that names it, and the signal passed to the source fires. */
export async function scoreWith(
  source: RewardSource,
  samples: readonly RewardSample[],
  { signal, timeout, ...runs }: ScoreWithOptions,
): Promise<readonly RewardScore[]> {
  signal.throwIfAborted();
  const own = new AbortController();
  const unscored = new Set(samples.keys());
  const limit = source.timeout ?? timeout;
  const timer = startTimer(limit, () => own.abort(hangError(source, { limit, unscored, samples })));
  const onScored = (index: number) => {
    unscored.delete(index);
    timer.restart();
  };
  const context = {
    signal: AbortSignal.any([signal, own.signal]),
    onScored,
    onActive: () => timer.restart(),
    ...runs,
  };
  try {
    const scoring = (async () => source.score(samples, context))();
    const scores = await Promise.race([scoring, rejectOnAbort(context.signal)]);
    return checkScores(scores, { name: source.name, samples });
  } catch (cause) {
    own.abort(cause);
    if (signal.aborted || cause instanceof RewardError) throw cause;
    throw new RewardError(`Cannot score with "${source.name}": ${describeThrown(cause)}`, {
      cause,
    });
  } finally {
    timer.stop();
  }
}

/** Calls back when it has not been restarted for `limit` seconds. */
function startTimer(limit: number, onTimeout: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    if (limit < Infinity) timer = setTimeout(onTimeout, toTimer(limit));
  };
  restart();
  return { restart, stop };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Hang {
  /** Seconds that passed without a score. */
  readonly limit: number;
  /** Indices of the samples without a score, in order. */
  readonly unscored: ReadonlySet<number>;
  readonly samples: readonly RewardSample[];
}

function hangError({ name }: RewardSource, { limit, unscored, samples }: Hang): RewardError {
  const [first] = unscored;
  const got =
    first === undefined
      ? 'no result after the last score'
      : `none for ${unscored.size === 1 ? `sample ${first}` : `${unscored.size} samples, the first is ${first}`}`;
  const quoted = first === undefined ? '' : ` (${quoteSample(samples[first]!)})`;
  return new RewardError(
    `Cannot score with "${name}": it must return a score within ${limit} s, got ${got}${quoted}, so scoring was stopped; raise rewardTimeout if it needs longer`,
  );
}

interface ScoreRequest {
  /** The source's name. */
  readonly name: string;
  readonly samples: readonly RewardSample[];
  /** Index of the first sample, if these are only some of them. */
  readonly first?: number;
}

/** Throws unless a source returned one finite number per sample, or one per token of the sample. */
export function checkScores(
  scores: unknown,
  { name, samples, first = 0 }: ScoreRequest,
): readonly RewardScore[] {
  const start = `Cannot use the scores of "${name}":`;
  if (!isList(scores)) {
    throw new RewardError(`${start} they must be a list of ${samples.length}, got ${show(scores)}`);
  }
  if (scores.length !== samples.length) {
    throw new RewardError(`${start} there must be ${samples.length}, got ${scores.length}`);
  }
  return samples.map((sample, i) => {
    const score = scores[i];
    const problem = isList(score)
      ? findTokenProblem(score, sample.tokens.length)
      : isFiniteFloat32(score)
        ? undefined
        : `must be a finite number, got ${show(score)}`;
    if (problem !== undefined) {
      throw new RewardError(
        `${start} the score of sample ${first + i} ${problem}; ${quoteSample(sample)}`,
      );
    }
    return score as RewardScore;
  });
}

function findTokenProblem(scores: ArrayLike<unknown>, tokens: number): string | undefined {
  if (scores.length !== tokens) {
    return `must be one number, or one per token (${tokens}), got ${scores.length}`;
  }
  const bad = Array.from(scores).findIndex((score) => !isFiniteFloat32(score));
  return bad < 0 ? undefined : `must be a finite number at token ${bad}, got ${show(scores[bad])}`;
}

/** Scores are stored as float32, where large numbers are infinite too. */
function isFiniteFloat32(score: unknown): score is number {
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

/** Total scores of B samples with N tokens. */
export interface TokenAndTextScores {
  /** Weighted sums over the sources; token scores count with their sum, [B]. */
  readonly scores: Float32Array;
  /** Weighted sums per token, if any source scores tokens, [N]. */
  readonly tokenScores?: Float32Array | undefined;
}

/** Total scores, and those of each source. */
export interface ScoredSamples extends TokenAndTextScores {
  /** Scores per source, unweighted, [B]. */
  readonly bySource: ReadonlyMap<string, Float32Array>;
}

/** One source's scores of all samples. */
export interface SourceScores {
  readonly name: string;
  readonly weight: number;
  readonly scores: readonly RewardScore[];
}

/** The weighted sum of all sources' scores, R = Σ_k w_k·R_k. Token scores count with their sum and are
 *  also kept per token.
 *  @example one sample of two tokens: a (weight 1) returns 1, b (weight ½) returns [2, 4]
 *    →  scores [1 + ½·6] = [4], tokenScores [1, 2], bySource a [1], b [6] */
export function combineScores(
  samples: readonly RewardSample[],
  sources: readonly SourceScores[],
): ScoredSamples {
  const offsets = offsetsOf(samples.map(({ tokens }) => tokens.length));
  const totals = new Float64Array(samples.length);
  const tokenTotals = new Float64Array(offsets.at(-1)!);
  const bySource = new Map<string, Float32Array>();
  for (const { name, weight, scores } of sources) {
    const sums = scores.map(sumOf);
    bySource.set(name, Float32Array.from(sums));
    sums.forEach((sum, i) => {
      totals[i] = totals[i]! + weight * sum;
      addTokens(tokenTotals.subarray(offsets[i]!), { score: scores[i]!, weight });
    });
  }
  const hasTokens = sources.some(({ scores }) => scores.some((score) => typeof score !== 'number'));
  return {
    scores: Float32Array.from(totals),
    tokenScores: hasTokens ? Float32Array.from(tokenTotals) : undefined,
    bySource,
  };
}

function addTokens(
  totals: Float64Array,
  { score, weight }: { score: RewardScore; weight: number },
): void {
  if (typeof score === 'number') return;
  for (let t = 0; t < score.length; t++) totals[t] = totals[t]! + weight * score[t]!;
}

function sumOf(score: RewardScore): number {
  if (typeof score === 'number') return score;
  let sum = 0;
  for (let t = 0; t < score.length; t++) sum += score[t]!;
  return sum;
}
