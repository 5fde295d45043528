import type { StreamingDecoder } from '../base-setup/tokenizer/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { LikelyTokens, SampledToken } from './sampler/sampler.ts';
import { StopFilter } from './stop-filter.ts';

/** Why a text ended: a stop token or string, or its length, which the model's context limits too. */
export type FinishReason = 'stop' | 'length';

/** One generated token as it comes. */
export interface TokenEvent {
  /** Index of the prompt in the call. */
  readonly prompt: number;
  readonly sample: number;
  readonly token: number;
  /** The text that is certain now: none while a character or perhaps a stop string is unfinished. */
  readonly text: string;
  /** log π of the unfiltered policy at the temperature. */
  readonly logprob: number;
  /** The logprob under the distribution that was drawn from. */
  readonly samplingLogprob: number;
  /** In nats, of the unfiltered policy at the temperature; where `topLogprobs` was asked for. */
  readonly entropy?: number;
  /** The likeliest tokens of the same. */
  readonly alternatives?: LikelyTokens;
  /** The whole text, if this token is its last one. */
  readonly finished?: GeneratedText;
}

/** A finished text with its tokens. */
export interface GeneratedText {
  readonly prompt: number;
  readonly sample: number;
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  readonly pieces: readonly string[];
  /** The pieces joined, without a stop string and what follows it. */
  readonly text: string;
  readonly logprobs: Float32Array;
  readonly samplingLogprobs: Float32Array;
  /** Entropies before the tokens, where `topLogprobs` was asked for. */
  readonly entropies?: Float32Array;
  /** The likeliest tokens in each token's place. */
  readonly alternatives?: readonly LikelyTokens[];
  readonly finishReason: FinishReason;
}

interface StopRules {
  readonly stopTokens: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
  readonly maxTokens: number;
}

interface SequenceParts {
  readonly prompt: number;
  readonly sample: number;
  readonly promptTokens: Int32Array;
  readonly random: RandomStream;
  readonly decoder: StreamingDecoder;
  readonly rules: StopRules;
  /** How many alternatives of each token are kept, with its entropy; none of both if undefined. */
  readonly topLogprobs: number | undefined;
}

/** One text in the making. */
export class Sequence {
  readonly parts: SequenceParts;
  finishReason: FinishReason | undefined;
  private readonly filter: StopFilter;
  private readonly drawn: SampledToken[] = [];
  private readonly pieces: string[] = [];
  private text = '';

  constructor(parts: SequenceParts) {
    this.parts = parts;
    this.filter = new StopFilter(parts.rules.stopStrings);
  }

  get lastToken(): number {
    return this.drawn.at(-1)!.token;
  }

  /** Prompt and response so far. */
  seen(): number[] {
    return [...this.parts.promptTokens, ...this.drawn.map(({ token }) => token)];
  }

  /** Takes a token; afterwards `finishReason` tells whether it was the last one. */
  accept(drawn: SampledToken): TokenEvent {
    const { prompt, sample } = this.parts;
    this.drawn.push(drawn);
    const text = this.read(drawn.token);
    this.text += text;
    return {
      prompt,
      sample,
      ...drawn,
      text,
      ...(this.finishReason && { finished: this.result(this.finishReason) }),
    };
  }

  /** Decodes a token, finds out whether it ends the text, and returns the text that is certain now. */
  private read(token: number): string {
    const { decoder, rules } = this.parts;
    const isStop = rules.stopTokens.has(token);
    const isLast = isStop || this.drawn.length >= rules.maxTokens;
    const piece = (isStop ? '' : decoder.push(token)) + (isLast ? decoder.finish() : '');
    this.pieces.push(piece);
    const text = this.filter.push(piece);
    if (isStop || this.filter.isStopped) this.finishReason = 'stop';
    else if (isLast) this.finishReason = 'length';
    return this.finishReason === undefined ? text : text + this.filter.finish();
  }

  private result(finishReason: FinishReason): GeneratedText {
    const { prompt, sample, promptTokens } = this.parts;
    return {
      prompt,
      sample,
      promptTokens,
      tokens: Int32Array.from(this.drawn, ({ token }) => token),
      pieces: this.pieces,
      text: this.text,
      logprobs: Float32Array.from(this.drawn, ({ logprob }) => logprob),
      samplingLogprobs: Float32Array.from(this.drawn, ({ samplingLogprob }) => samplingLogprob),
      ...(this.parts.topLogprobs !== undefined && {
        entropies: Float32Array.from(this.drawn, ({ entropy }) => entropy!),
        alternatives: this.drawn.map(({ alternatives }) => alternatives!),
      }),
      finishReason,
    };
  }
}
