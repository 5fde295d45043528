/** How tokens are drawn, under Hugging Face's names and applied in its order:
 *  repetition penalty → temperature → top-k → top-p → min-p. */
export interface SamplingOptions {
  /** Divides the logits; 0 takes the largest logit (greedy); 1 by default. */
  readonly temperature?: number;
  /** Keeps the k largest logits and their equals; all by default. */
  readonly topK?: number;
  /** Keeps the fewest most probable tokens whose probabilities reach p; 1 (all) by default. */
  readonly topP?: number;
  /** Keeps the tokens at least this many times as probable as the best; 0 (all) by default. */
  readonly minP?: number;
  /** Divides positive and multiplies negative logits of seen tokens; 1 (none) by default. */
  readonly repetitionPenalty?: number;
}

export interface ResolvedSamplingOptions extends Required<Omit<SamplingOptions, 'topK'>> {
  readonly topK: number;
}

/** Fills in the defaults and refuses what is out of range. */
export function resolveSamplingOptions(options: SamplingOptions): ResolvedSamplingOptions {
  const { temperature = 1, topK = Infinity, topP = 1, minP = 0, repetitionPenalty = 1 } = options;
  expectThat(temperature >= 0 && temperature < Infinity, {
    requirement: 'temperature must be finite and at least 0',
    value: temperature,
    remedy: 'use 0 for greedy',
  });
  expectThat(options.topK === undefined || (Number.isSafeInteger(topK) && topK >= 1), {
    requirement: 'topK must be a whole number ≥ 1',
    value: topK,
    remedy: 'leave it out to keep every token',
  });
  expectThat(topP > 0 && topP <= 1, {
    requirement: 'topP must lie in (0, 1]',
    value: topP,
    remedy: 'use 1 to keep every token',
  });
  expectThat(minP >= 0 && minP < 1, {
    requirement: 'minP must lie in [0, 1)',
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

interface Rule {
  readonly requirement: string;
  readonly value: number;
  readonly remedy: string;
}

function expectThat(holds: boolean, { requirement, value, remedy }: Rule): void {
  if (!holds) {
    throw new RangeError(`Cannot make a sampler: ${requirement}, got ${value}; ${remedy}`);
  }
}
