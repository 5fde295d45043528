import { concatFloats, concatInts, offsetsOf } from '../columns/index.ts';
import type { GeneratedText } from '../generation/sequence.ts';
import type { SFTModel } from '../models/sft-model.ts';
import { type KlEstimator, klDivergence } from './kl-divergence.ts';
import { type PairColumns, PairList } from './pair-list.ts';
import type { Rollout, RolloutSequence } from './rollout.ts';

/** The models that a `TokenAttributor` computes log-probabilities with. */
export interface TokenAttributorOptions {
  /** The policy that the KL penalty compares with. */
  readonly reference: SFTModel;
  /** The model that generated the texts; required by `recomputeLogprobs`. */
  readonly policy?: Pick<SFTModel, 'logprobs'> | undefined;
  /** Recomputes log π_old with `policy`, because a quantized generator samples from a different
   *  distribution; false by default. */
  readonly recomputeLogprobs?: boolean;
  /** The temperature of generation; 1 by default. */
  readonly temperature?: number;
  /** `k1` by default. */
  readonly klEstimator?: KlEstimator;
}

/** Logprobs per response token, end to end. */
export interface TokenLogprobs {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
}

/** Computes the logprobs of all texts instead of the attributor's own models. */
export interface LogprobPasses {
  policy(): Promise<TokenLogprobs>;
  reference(): Promise<TokenLogprobs>;
}

/** Breaks generated texts into actions with their logprobs under policy and reference. */
export class TokenAttributor {
  private readonly reference: SFTModel;
  /** Set if logprobs are recomputed. */
  private readonly policy: Pick<SFTModel, 'logprobs'> | undefined;
  private readonly temperature: number;
  private readonly klEstimator: KlEstimator;

  constructor(options: TokenAttributorOptions) {
    const { reference, policy, recomputeLogprobs = false } = options;
    const { temperature = 1, klEstimator = 'k1' } = options;
    if (recomputeLogprobs && policy === undefined) {
      throw new TypeError(
        'Cannot attribute tokens: recomputeLogprobs needs the model that generated the texts, got none; pass it as policy',
      );
    }
    if (!(temperature > 0 && temperature < Infinity)) {
      throw new RangeError(
        `Cannot attribute tokens: temperature must be finite and above 0, got ${temperature}; use 1 for greedy texts, whose logprobs are at temperature 1`,
      );
    }
    this.reference = reference;
    this.policy = recomputeLogprobs ? policy : undefined;
    this.temperature = temperature;
    this.klEstimator = klEstimator;
  }

  /** Columns of all texts in their order: the sampled tokens, log π_old, log π_ref and
   *  KL_t, all at the temperature. `prompts[text.prompt]` is the prompt of a text. */
  async attribute(
    texts: readonly GeneratedText[],
    prompts: readonly string[],
    passes?: LogprobPasses,
  ): Promise<Rollout> {
    const sequences = texts.map((text) => toSequence(text, prompts));
    const recomputed =
      this.policy && (await (passes?.policy() ?? this.logprobsOf(this.policy, texts)));
    const { logprobs: refLogprobs } = await (passes?.reference() ??
      this.logprobsOf(this.reference, texts));
    const logprobs = recomputed?.logprobs ?? concatFloats(texts.map((text) => text.logprobs));
    const samplingLogprobs = concatFloats(texts.map((text) => text.samplingLogprobs));
    const differs = samplingLogprobs.some((value, i) => value !== logprobs[i]);
    return {
      sequences,
      offsets: offsetsOf(texts.map(({ tokens }) => tokens.length)),
      tokens: concatInts(texts.map(({ tokens }) => tokens)),
      logprobs,
      refLogprobs,
      kl: this.computeKlDivergence(logprobs, refLogprobs),
      ...(differs && { samplingLogprobs }),
      ...(recomputed && { entropies: recomputed.entropies }),
    };
  }

  /** Views of the (state, action) pairs of a rollout or an experience. */
  extractPairs(columns: PairColumns): PairList {
    return new PairList(columns);
  }

  /** Estimates KL_t of each token from d_t = log π − log π_ref.
   *  @example k1 of [−1, −2] and [−1.5, −1]  →  [0.5, −1] */
  computeKlDivergence(
    policyLogprobs: ArrayLike<number>,
    refLogprobs: ArrayLike<number>,
  ): Float32Array {
    if (policyLogprobs.length !== refLogprobs.length) {
      throw new RangeError(
        `Cannot compute KL divergence: the reference must have as many logprobs as the policy (${policyLogprobs.length}), got ${refLogprobs.length}`,
      );
    }
    return Float32Array.from(policyLogprobs, (logprob, t) =>
      klDivergence(this.klEstimator, logprob - refLogprobs[t]!),
    );
  }

  private async logprobsOf(
    model: Pick<SFTModel, 'logprobs'>,
    texts: readonly GeneratedText[],
  ): Promise<TokenLogprobs> {
    const { logprobs, entropies } = await model.logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
      { temperature: this.temperature, observations: texts.map((text) => text.observations) },
    );
    return { logprobs: concatFloats(logprobs), entropies: concatFloats(entropies) };
  }
}

function toSequence(text: GeneratedText, prompts: readonly string[]): RolloutSequence {
  const promptText = prompts[text.prompt];
  if (promptText === undefined) {
    throw new RangeError(
      `Cannot attribute tokens: prompts must include the prompt of every text, got ${prompts.length} prompts and a text of prompt ${text.prompt}`,
    );
  }
  return {
    promptIdx: text.prompt,
    sample: text.sample,
    promptText,
    promptTokens: text.promptTokens,
    text: text.text,
    pieces: text.pieces,
    ...(text.observations && { observations: text.observations }),
    finished: text.finishReason === 'stop',
  };
}
