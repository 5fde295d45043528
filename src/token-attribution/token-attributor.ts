import { concatFloats, concatInts, offsetsOf } from '../columns/index.ts';
import type { GeneratedText } from '../generation/sequence.ts';
import type { ResponseLogprobs, SFTModel } from '../models/sft-model.ts';
import { type KlEstimator, klDivergence } from './kl-divergence.ts';
import { type PairColumns, PairList } from './pair-list.ts';
import type { Rollout, RolloutSequence } from './rollout.ts';

export interface TokenAttributorOptions {
  /** The model that the policy is held near: the base without an adapter. */
  readonly reference: SFTModel;
  /** The model that made the texts; needed where its logprobs are computed again. */
  readonly policy?: Pick<SFTModel, 'logprobs'> | undefined;
  /** Computes log π_old with `policy` itself, since a generator of 8 bits gives another's; false by default. */
  readonly recomputeLogprobs?: boolean;
  /** What the texts were generated at; 1 by default. */
  readonly temperature?: number;
  /** `k1` by default. */
  readonly klEstimator?: KlEstimator;
}

/** Breaks generated texts into actions with their logprobs under policy and reference. */
export class TokenAttributor {
  private readonly reference: SFTModel;
  /** Set where logprobs are computed again. */
  private readonly policy: Pick<SFTModel, 'logprobs'> | undefined;
  private readonly temperature: number;
  private readonly klEstimator: KlEstimator;

  constructor(options: TokenAttributorOptions) {
    const { reference, policy, recomputeLogprobs = false } = options;
    const { temperature = 1, klEstimator = 'k1' } = options;
    if (recomputeLogprobs && policy === undefined) {
      throw new TypeError(
        'Cannot attribute tokens: recomputeLogprobs needs the model that made the texts, got none; pass it as policy',
      );
    }
    if (!(temperature > 0 && temperature < Infinity)) {
      throw new RangeError(
        `Cannot attribute tokens: temperature must be finite and above 0, got ${temperature}; use 1 for greedy texts, whose logprobs are at 1`,
      );
    }
    this.reference = reference;
    this.policy = recomputeLogprobs ? policy : undefined;
    this.temperature = temperature;
    this.klEstimator = klEstimator;
  }

  /** Columns of all texts in their order: the sampled tokens as they are, log π_old, log π_ref and
   *  KL_t, all at the temperature. `prompts[text.prompt]` is the prompt of a text. */
  async attribute(texts: readonly GeneratedText[], prompts: readonly string[]): Promise<Rollout> {
    const sequences = texts.map((text) => toSequence(text, prompts));
    const again = this.policy && (await this.logprobsOf(this.policy, texts));
    const ref = await this.logprobsOf(this.reference, texts);
    const logprobs = concatFloats(again?.logprobs ?? texts.map((text) => text.logprobs));
    const refLogprobs = concatFloats(ref.logprobs);
    const samplingLogprobs = concatFloats(texts.map((text) => text.samplingLogprobs));
    const isOtherwiseDrawn = samplingLogprobs.some((value, i) => value !== logprobs[i]);
    return {
      sequences,
      offsets: offsetsOf(texts.map(({ tokens }) => tokens.length)),
      tokens: concatInts(texts.map(({ tokens }) => tokens)),
      logprobs,
      refLogprobs,
      kl: this.computeKlDivergence(logprobs, refLogprobs),
      ...(isOtherwiseDrawn && { samplingLogprobs }),
      ...(again && { entropies: concatFloats(again.entropies) }),
    };
  }

  /** The (state, action) pairs of a rollout or an experience, made as they are read. */
  extractPairs(columns: PairColumns): PairList {
    return new PairList(columns);
  }

  /** KL_t of each token by the estimator, from d_t = log π − log π_ref.
   *  @example k1 of [−1, −2] and [−1.5, −1]  →  [0.5, −1] */
  computeKlDivergence(
    policyLogprobs: ArrayLike<number>,
    refLogprobs: ArrayLike<number>,
  ): Float32Array {
    if (policyLogprobs.length !== refLogprobs.length) {
      throw new RangeError(
        `Cannot compute KL divergence: the reference must have ${policyLogprobs.length} logprobs, as the policy, got ${refLogprobs.length}`,
      );
    }
    return Float32Array.from(policyLogprobs, (logprob, t) =>
      klDivergence(this.klEstimator, logprob - refLogprobs[t]!),
    );
  }

  private logprobsOf(
    model: Pick<SFTModel, 'logprobs'>,
    texts: readonly GeneratedText[],
  ): Promise<ResponseLogprobs> {
    return model.logprobs(
      texts.map(({ promptTokens }) => promptTokens),
      texts.map(({ tokens }) => tokens),
      { temperature: this.temperature },
    );
  }
}

function toSequence(text: GeneratedText, prompts: readonly string[]): RolloutSequence {
  const promptText = prompts[text.prompt];
  if (promptText === undefined) {
    throw new RangeError(
      `Cannot attribute tokens: prompts must hold that of every text, got ${prompts.length} prompts and a text of prompt ${text.prompt}`,
    );
  }
  return {
    promptIdx: text.prompt,
    sample: text.sample,
    promptText,
    promptTokens: text.promptTokens,
    text: text.text,
    pieces: text.pieces,
    finished: text.finishReason === 'stop',
  };
}
