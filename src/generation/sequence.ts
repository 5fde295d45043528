import type { StreamingDecoder } from '../base-setup/tokenizer/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { SampledToken } from './sampler/sampler.ts';

/** Why a text ended: a stop token or string, its length, or the end of the model's context. */
export type FinishReason = 'stop' | 'length';

/** One generated token as it comes. */
export interface TokenEvent {
  /** Index of the prompt in the call. */
  readonly prompt: number;
  readonly sample: number;
  readonly token: number;
  /** The text that this token completes; empty while a character is unfinished. */
  readonly text: string;
  /** log π of the unfiltered policy at the temperature. */
  readonly logprob: number;
  /** The logprob under the distribution that was drawn from. */
  readonly samplingLogprob: number;
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
  readonly finishReason: FinishReason;
}

export interface StopRules {
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
}

/** One text in the making. */
export class Sequence {
  readonly parts: SequenceParts;
  finishReason: FinishReason | undefined;
  private readonly drawn: SampledToken[] = [];
  private readonly pieces: string[] = [];
  private text = '';

  constructor(parts: SequenceParts) {
    this.parts = parts;
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
    const { prompt, sample, decoder, rules } = this.parts;
    const isStop = rules.stopTokens.has(drawn.token);
    this.drawn.push(drawn);
    let piece = isStop ? decoder.finish() : decoder.push(drawn.token);
    this.text += piece;
    const cut = firstIndexOf(this.text, rules.stopStrings);
    if (isStop || cut >= 0) this.finishReason = 'stop';
    else if (this.drawn.length >= rules.maxTokens) this.finishReason = 'length';
    if (this.finishReason === 'length') {
      const rest = decoder.finish();
      piece += rest;
      this.text += rest;
    }
    this.pieces.push(piece);
    return {
      prompt,
      sample,
      token: drawn.token,
      text: piece,
      logprob: drawn.logprob,
      samplingLogprob: drawn.samplingLogprob,
    };
  }

  result(): GeneratedText {
    const { prompt, sample, promptTokens, rules } = this.parts;
    const cut = firstIndexOf(this.text, rules.stopStrings);
    return {
      prompt,
      sample,
      promptTokens,
      tokens: Int32Array.from(this.drawn, ({ token }) => token),
      pieces: this.pieces,
      text: cut >= 0 ? this.text.slice(0, cut) : this.text,
      logprobs: Float32Array.from(this.drawn, ({ logprob }) => logprob),
      samplingLogprobs: Float32Array.from(this.drawn, ({ samplingLogprob }) => samplingLogprob),
      finishReason: this.finishReason ?? 'length',
    };
  }
}

function firstIndexOf(text: string, needles: readonly string[]): number {
  const found = needles.map((needle) => text.indexOf(needle)).filter((index) => index >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
