import { Candidates, topIndices } from './candidates.ts';
import { type RowSums, SoftmaxRow } from './softmax-row.ts';

/** Sampling options, under Hugging Face's names and applied in its order:
 *  repetition penalty → temperature → top-k → top-p → min-p. */
export interface SamplingOptions {
  /** Divides the logits; 0 selects the largest logit (greedy); 1 by default. */
  readonly temperature?: number;
  /** Keeps the k largest logits and any equal to the k-th; all by default. */
  readonly topK?: number;
  /** Keeps the fewest most probable tokens whose probabilities reach p; 1 (all) by default. */
  readonly topP?: number;
  /** Keeps tokens with at least this fraction of the highest probability; 0 (all) by default. */
  readonly minP?: number;
  /** Divides positive and multiplies negative logits of seen tokens; 1 (none) by default. */
  readonly repetitionPenalty?: number;
}

/** What is needed to sample one token. */
export interface SampleOptions {
  /** Selects the token: a number in [0, 1) from the sequence's random stream. */
  readonly uniform: number;
  /** Ids of the prompt and the response so far; only the repetition penalty needs them. */
  readonly seen?: ArrayLike<number>;
  /** Requests the entropy and this many of the most probable tokens. */
  readonly topLogprobs?: number | undefined;
  /** The row's sums at the sampler's temperature, if known. */
  readonly sums?: RowSums | undefined;
}

/** Tokens with their logprobs, most probable first. */
export interface LikelyTokens {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

/** A sampled token and its log-probabilities. */
export interface SampledToken {
  readonly token: number;
  /** PPO's logprob: log softmax(logits / temperature)[token], without penalty and filters. At
   *  temperature 0: log softmax(logits)[token]. */
  readonly logprob: number;
  /** The logprob under the distribution sampled from: penalised, filtered and renormalised. Equal to
   *  `logprob` if neither changes anything; 0 at temperature 0, where the token is certain. */
  readonly samplingLogprob: number;
  /** In nats, of the distribution of `logprob`; only with `topLogprobs`. */
  readonly entropy?: number;
  /** The most probable tokens of the same distribution. */
  readonly alternatives?: LikelyTokens;
}

/** Samples tokens from rows of logits, one row per call; reuses scratch buffers between calls.
 *
 *  The token is the first in order of id at which the cumulative probability exceeds `uniform`, so it
 *  depends only on logits, uniform and seen. Greedy sampling takes the first of equal logits.
 *  @example logits ln 1, ln 2, ln 1 at temperature 1: uniform 0.2 → 0, 0.25 → 1, 0.8 → 2 */
export class Sampler {
  private readonly options: ResolvedSamplingOptions;
  private readonly policy = new SoftmaxRow();
  private readonly penalised = new SoftmaxRow();
  private readonly candidates = new Candidates();
  private scores = new Float32Array(0);

  constructor(options: SamplingOptions = {}) {
    this.options = resolveSamplingOptions(options);
  }

  /** Samples the next token from the logits of one sequence. */
  sample(logits: Float32Array, options: SampleOptions): SampledToken {
    const sampled = this.sampleToken(logits, options);
    const { topLogprobs } = options;
    return topLogprobs === undefined
      ? sampled
      : { ...sampled, ...this.describePolicy(topLogprobs) };
  }

  /** The divisor of the logits; 1 for greedy sampling. */
  get temperature(): number {
    return this.options.temperature || 1;
  }

  private sampleToken(logits: Float32Array, { uniform, seen, sums }: SampleOptions): SampledToken {
    if (!(uniform >= 0 && uniform < 1)) {
      throw new RangeError(`Cannot sample: uniform must be in [0, 1), got ${uniform}`);
    }
    const { policy, candidates } = this;
    const row = this.load(logits, seen, sums);
    if (this.options.temperature === 0) {
      const token = row.scores.indexOf(row.max);
      return { token, logprob: policy.logprobOf(token), samplingLogprob: 0 };
    }
    if (!this.filters(logits.length)) {
      const token = row.indexAt(uniform);
      const samplingLogprob = row.logprobOf(token);
      return { token, logprob: policy.logprobOf(token), samplingLogprob };
    }
    this.filter(row);
    const total = candidates.total();
    const index = candidates.indexAt(uniform, total);
    const token = candidates.ids[index]!;
    const samplingLogprob = Math.log(candidates.weights[index]!) - Math.log(total);
    return { token, logprob: policy.logprobOf(token), samplingLogprob };
  }

  /** Entropy and most probable tokens of the loaded row. */
  private describePolicy(k: number): Required<Pick<SampledToken, 'entropy' | 'alternatives'>> {
    const { policy } = this;
    const ids = topIndices(policy.scores, k);
    const logprobs = Float32Array.from(ids, (id) => policy.logprobOf(id));
    return { entropy: policy.entropy(), alternatives: { ids, logprobs } };
  }

  /** The distribution that `sample()` samples from, as a new array. */
  probabilities(logits: Float32Array, { seen }: Omit<SampleOptions, 'uniform'> = {}): Float64Array {
    const { candidates } = this;
    const row = this.load(logits, seen);
    const probabilities = new Float64Array(logits.length);
    if (this.options.temperature === 0) {
      probabilities[row.scores.indexOf(row.max)] = 1;
      return probabilities;
    }
    this.filter(row);
    const total = candidates.total();
    for (let i = 0; i < candidates.length; i++) {
      probabilities[candidates.ids[i]!] = candidates.weights[i]! / total;
    }
    return probabilities;
  }

  /** Loads the policy's row and returns the one to sample from, which may be penalised. */
  private load(
    logits: Float32Array,
    seen: ArrayLike<number> | undefined,
    sums?: RowSums,
  ): SoftmaxRow {
    const { temperature } = this;
    const { repetitionPenalty } = this.options;
    if (sums === undefined || this.filters(logits.length)) this.policy.load(logits, temperature);
    else this.policy.loadWithSums(logits, temperature, sums);
    if (repetitionPenalty === 1) return this.policy;
    if (seen === undefined) {
      throw new TypeError(
        `Cannot sample: repetitionPenalty ${repetitionPenalty} needs the ids seen so far, got none; ` +
          'pass the ids of prompt and response as seen',
      );
    }
    if (this.scores.length !== logits.length) this.scores = new Float32Array(logits.length);
    penalise(logits, { seen, repetitionPenalty, scores: this.scores });
    return this.penalised.load(this.scores, temperature);
  }

  private filters(vocabulary: number): boolean {
    const { topK, topP, minP } = this.options;
    return topK < vocabulary || topP < 1 || minP > 0;
  }

  /** Leaves the kept tokens in `candidates`. */
  private filter(row: SoftmaxRow): void {
    const { topK, topP, minP } = this.options;
    const { candidates } = this;
    const isTopK = topK < row.scores.length;
    candidates.collect(row, isTopK ? row.boundOfTop(topK) : this.floorOf(row));
    if (isTopK) candidates.keepTop(topK);
    if (topP < 1) candidates.keepTopWeight(topP * (isTopK ? candidates.total() : row.total));
    if (minP > 0) candidates.keepWeights(minP);
  }

  /** A score below which top-p or min-p removes everything: V weights below (1 − p)Σw/V sum to at most
   *  the share of 1 − p that top-p removes. */
  private floorOf(row: SoftmaxRow): number {
    const { topP, minP } = this.options;
    const minimum = Math.max(minP, ((1 - topP) * row.total) / row.scores.length);
    // Slightly lower, since the score is rounded; the filters themselves are exact.
    return row.scoreOf(minimum * (1 - 1e-9));
  }
}

interface PenaltyOptions {
  readonly seen: ArrayLike<number>;
  readonly repetitionPenalty: number;
  /** Destination of the penalised logits. */
  readonly scores: Float32Array;
}

/** The repetition penalty (arXiv:1909.05858), once per seen token as in transformers:
 *  x < 0:  x · penalty;  else:  x / penalty.  Ids beyond the logits are ignored.
 *  @example penalty 2, logits 3, −1, 4, seen 0, 1, 0  →  1.5, −2, 4 */
function penalise(logits: Float32Array, options: PenaltyOptions): void {
  const { seen, repetitionPenalty, scores } = options;
  scores.set(logits);
  for (let i = 0; i < seen.length; i++) {
    const id = seen[i]!;
    if (!Number.isInteger(id) || id < 0) {
      throw new RangeError(`Cannot sample: seen ids must be whole numbers ≥ 0, got ${id} at ${i}`);
    }
    if (id >= logits.length) continue;
    const logit = logits[id]!;
    scores[id] = logit < 0 ? logit * repetitionPenalty : logit / repetitionPenalty;
  }
}

interface ResolvedSamplingOptions extends Required<Omit<SamplingOptions, 'topK'>> {
  readonly topK: number;
}

/** Fills in the defaults and rejects values out of range. */
function resolveSamplingOptions(options: SamplingOptions): ResolvedSamplingOptions {
  const { temperature = 1, topK = Infinity, topP = 1, minP = 0, repetitionPenalty = 1 } = options;
  expectThat(temperature >= 0 && temperature < Infinity, {
    requirement: 'temperature must be finite and at least 0',
    value: temperature,
    remedy: 'use 0 for greedy sampling',
  });
  expectThat(options.topK === undefined || (Number.isSafeInteger(topK) && topK >= 1), {
    requirement: 'topK must be a whole number ≥ 1',
    value: topK,
    remedy: 'omit it to keep every token',
  });
  expectThat(topP > 0 && topP <= 1, {
    requirement: 'topP must be in (0, 1]',
    value: topP,
    remedy: 'use 1 to keep every token',
  });
  expectThat(minP >= 0 && minP < 1, {
    requirement: 'minP must be in [0, 1)',
    value: minP,
    remedy: 'use 0 to keep every token',
  });
  expectThat(repetitionPenalty > 0 && repetitionPenalty < Infinity, {
    requirement: 'repetitionPenalty must be finite and above 0',
    value: repetitionPenalty,
    remedy: 'use 1 for none',
  });
  return { temperature, topK, topP, minP, repetitionPenalty };
}

interface OptionCheck {
  readonly requirement: string;
  readonly value: number;
  readonly remedy: string;
}

function expectThat(isMet: boolean, { requirement, value, remedy }: OptionCheck): void {
  if (!isMet) {
    throw new RangeError(`Cannot create a sampler: ${requirement}, got ${value}; ${remedy}`);
  }
}
