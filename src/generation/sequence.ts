import { StreamingDecoder, type Tokenizer } from '../base-setup/tokenizer/tokenizer.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { countObserved, insertObservations, type Observation } from './observation.ts';
import type { LikelyTokens, SampledToken } from './sampler/sampler.ts';

/** Why a text ended: a stop token or string, or the length limit, including the model's context. */
export type FinishReason = 'stop' | 'length';

/** One generated token, reported as soon as it is sampled. */
export interface TokenEvent {
  /** Index of the prompt in the call. */
  readonly prompt: number;
  readonly sample: number;
  readonly token: number;
  /** New text; empty while a character, or what may be a stop string, is incomplete. */
  readonly text: string;
  /** log π of the unfiltered policy at the temperature. */
  readonly logprob: number;
  /** The logprob under the distribution that was sampled from. */
  readonly samplingLogprob: number;
  /** In nats, of the unfiltered policy at the temperature; only with `topLogprobs`. */
  readonly entropy?: number;
  /** The most probable tokens of the same distribution. */
  readonly alternatives?: LikelyTokens;
  /** The whole text, if this is its last token. */
  readonly finished?: GeneratedText;
}

/** A finished text with its tokens. */
export interface GeneratedText {
  readonly prompt: number;
  readonly sample: number;
  readonly promptTokens: Int32Array;
  /** The sampled tokens. */
  readonly tokens: Int32Array;
  /** What the environment inserted between them, if there is one. */
  readonly observations?: readonly Observation[] | undefined;
  readonly pieces: readonly string[];
  /** The joined pieces, without a stop string and anything after it. */
  readonly text: string;
  readonly logprobs: Float32Array;
  readonly samplingLogprobs: Float32Array;
  /** Entropy before each token; only with `topLogprobs`, and not from a rollout server. */
  readonly entropies?: Float32Array;
  /** The most probable tokens at each position; only with `topLogprobs`. */
  readonly alternatives?: readonly LikelyTokens[];
  /** The turns of an episode, if an environment answered; `text` is that of the last one. */
  readonly turns?: readonly Turn[] | undefined;
  readonly finishReason: FinishReason;
}

/** What the policy sampled between two answers of the environment. */
export interface Turn {
  /** Number of sampled tokens up to its end. */
  readonly end: number;
  readonly text: string;
  readonly finishReason: FinishReason;
}

interface StopRules {
  readonly stopTokens: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
  readonly maxTokens: number;
  /** Most tokens of prompt, response and observations together. */
  readonly context: number;
}

interface SequenceParts {
  readonly prompt: number;
  readonly sample: number;
  readonly promptTokens: Int32Array;
  readonly random: RandomStream;
  readonly tokenizer: Tokenizer;
  readonly rules: StopRules;
  /** Number of alternatives to record per token, with the entropy; neither if undefined. */
  readonly topLogprobs: number | undefined;
  /** Whether an environment answers each turn; without one, a text is one turn. */
  readonly isEpisode?: boolean;
}

/** One text being generated. */
export class Sequence {
  readonly parts: SequenceParts;
  /** Why the current turn ended, if it has. */
  finishReason: FinishReason | undefined;
  private filter: StopFilter;
  private decoder: StreamingDecoder;
  /** Tokens that the model has not read yet: the last sampled one, then what the environment added. */
  private unread: number[] = [];
  private readonly observations: Observation[] = [];
  private readonly turns: Turn[] = [];
  private readonly sampled: SampledToken[] = [];
  private readonly pieces: string[] = [];
  private text = '';

  constructor(parts: SequenceParts) {
    this.parts = parts;
    this.filter = new StopFilter(parts.rules.stopStrings);
    this.decoder = this.decodeAfter(parts.promptTokens);
  }

  /** Takes the next token that the model has not read. */
  read(): number {
    return this.unread.shift()!;
  }

  /** Whether the model must read more before the next token is sampled. */
  get isReading(): boolean {
    return this.unread.length > 0;
  }

  /** Prompt and response so far, with observations. */
  seen(): number[] {
    const tokens = insertObservations(this.tokens(), this.observations);
    return [...this.parts.promptTokens, ...tokens];
  }

  /** The tokens that the model has read, for a text whose cache was dropped. */
  known(): number[] {
    const seen = this.seen();
    return seen.slice(0, seen.length - this.unread.length);
  }

  /** The turn that has just ended. */
  get lastTurn(): { readonly tokens: Int32Array; readonly index: number } & Turn {
    const turn = this.turns.at(-1)!;
    const start = this.turns.at(-2)?.end ?? 0;
    return { ...turn, tokens: this.tokens().subarray(start), index: this.turns.length - 1 };
  }

  /** Whether this many more tokens leave room for a sampled one. */
  hasRoom(count: number): boolean {
    return (
      this.sampled.length < this.parts.rules.maxTokens &&
      this.length + count < this.parts.rules.context
    );
  }

  /** Starts the next turn after the environment's answer. */
  observe({ tokens, text }: Pick<Observation, 'tokens' | 'text'>): void {
    this.observations.push({ at: this.sampled.length, tokens, text });
    for (const token of tokens) this.unread.push(token);
    this.filter = new StopFilter(this.parts.rules.stopStrings);
    this.decoder = this.decodeAfter(tokens);
    this.text = '';
    this.finishReason = undefined;
  }

  /** Ends an episode. */
  finish(reason: FinishReason): GeneratedText {
    this.finishReason = reason;
    return this.result(reason);
  }

  /** Adds a token; `finishReason` is set if it was the last one. */
  accept(sampled: SampledToken): TokenEvent {
    const { prompt, sample } = this.parts;
    this.sampled.push(sampled);
    this.unread = [sampled.token];
    const text = this.decode(sampled.token);
    this.text += text;
    if (this.finishReason !== undefined) this.endTurn(this.finishReason);
    return {
      prompt,
      sample,
      ...sampled,
      text,
      ...(this.finishReason &&
        !this.parts.isEpisode && { finished: this.result(this.finishReason) }),
    };
  }

  /** Ends a text that its own rules did not end, such as one that a server ended. */
  end(reason: FinishReason): GeneratedText {
    const rest = this.decoder.finish();
    this.pieces[this.pieces.length - 1] += rest;
    this.text += this.filter.push(rest) + this.filter.finish();
    this.finishReason = this.filter.isStopped ? 'stop' : reason;
    return this.result(this.finishReason);
  }

  /** Decodes a token, checks whether it ends the text, and returns the new text. */
  private decode(token: number): string {
    const { decoder } = this;
    const { rules } = this.parts;
    const isStop = rules.stopTokens.has(token);
    const isLast = isStop || !this.hasRoom(0);
    const piece = (isStop ? '' : decoder.push(token)) + (isLast ? decoder.finish() : '');
    this.pieces.push(piece);
    const text = this.filter.push(piece);
    if (isStop || this.filter.isStopped) this.finishReason = 'stop';
    else if (isLast) this.finishReason = 'length';
    return this.finishReason === undefined ? text : text + this.filter.finish();
  }

  private endTurn(finishReason: FinishReason): void {
    this.turns.push({ end: this.sampled.length, text: this.text, finishReason });
  }

  private decodeAfter(tokens: Int32Array): StreamingDecoder {
    return new StreamingDecoder(this.parts.tokenizer, { after: tokens, skipSpecialTokens: true });
  }

  private tokens(): Int32Array {
    return Int32Array.from(this.sampled, ({ token }) => token);
  }

  /** Number of tokens so far: of the prompt, sampled and observed. */
  private get length(): number {
    const { promptTokens } = this.parts;
    return promptTokens.length + this.sampled.length + countObserved(this.observations);
  }

  private result(finishReason: FinishReason): GeneratedText {
    const { prompt, sample, promptTokens, isEpisode } = this.parts;
    return {
      prompt,
      sample,
      promptTokens,
      tokens: this.tokens(),
      ...(isEpisode && { observations: this.observations, turns: this.turns }),
      pieces: this.pieces,
      text: this.text,
      logprobs: Float32Array.from(this.sampled, ({ logprob }) => logprob),
      samplingLogprobs: Float32Array.from(this.sampled, ({ samplingLogprob }) => samplingLogprob),
      ...(this.parts.topLogprobs !== undefined && {
        // A server that samples reports no entropies.
        ...(this.sampled[0]!.entropy !== undefined && {
          entropies: Float32Array.from(this.sampled, ({ entropy }) => entropy!),
        }),
        alternatives: this.sampled.map(({ alternatives }) => alternatives!),
      }),
      finishReason,
    };
  }
}

/**
 * Passes text through up to the first stop string. Holds back what may be the start of one until it is
 * known.
 */
export class StopFilter {
  private readonly stops: readonly string[];
  private pending = '';
  private stopped = false;

  constructor(stops: readonly string[]) {
    this.stops = stops;
  }

  /** Whether a stop string was found. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** Adds text and returns what certainly comes before any stop string. */
  push(text: string): string {
    if (this.stopped) return '';
    this.pending += text;
    const indices = this.stops.map((stop) => this.pending.indexOf(stop)).filter((at) => at >= 0);
    if (indices.length === 0) return this.take(this.pending.length - this.partialStopLength());
    this.stopped = true;
    return this.take(Math.min(...indices));
  }

  /** Returns the text held back, at the end of the text. */
  finish(): string {
    return this.stopped ? '' : this.take(this.pending.length);
  }

  /** Length of the longest suffix of the text that is a prefix of a stop string. */
  private partialStopLength(): number {
    const longest = Math.max(0, ...this.stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, this.pending.length); length > 0; length--) {
      const end = this.pending.slice(-length);
      if (this.stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  private take(length: number): string {
    const text = this.pending.slice(0, length);
    this.pending = this.pending.slice(length);
    return text;
  }
}
