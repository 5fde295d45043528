import type { TokenEvent } from '../../generation/sequence.ts';
import { StopFilter } from './stop-filter.ts';

export interface TextRules {
  readonly stop: readonly string[];
  readonly stopTokens: readonly number[];
  /** Tokens that the text can have at most. */
  readonly maxTokens: number;
}

/** One text as its tokens come. */
export class TextInProgress {
  readonly tokens: number[] = [];
  readonly pieces: string[] = [];
  readonly logprobs: number[] = [];
  readonly samplingLogprobs: number[] = [];
  text = '';
  private readonly rules: TextRules;
  private readonly filter: StopFilter;

  constructor(rules: TextRules) {
    this.rules = rules;
    this.filter = new StopFilter(rules.stop);
  }

  /** Takes a token; returns the text that is certain now. */
  push({ token, text, logprob, samplingLogprob }: TokenEvent): string {
    this.tokens.push(token);
    this.pieces.push(text);
    this.logprobs.push(logprob);
    this.samplingLogprobs.push(samplingLogprob);
    return this.add(this.filter.push(text));
  }

  /** The text that was held back in case a stop string came. */
  finish(): string {
    return this.add(this.filter.finish());
  }

  /** Whether no more tokens will come, as far as the rules tell. */
  get isDone(): boolean {
    return this.finishReason === 'stop' || this.tokens.length >= this.rules.maxTokens;
  }

  get finishReason(): 'stop' | 'length' {
    const last = this.tokens.at(-1);
    const isEnd = last !== undefined && this.rules.stopTokens.includes(last);
    return isEnd || this.filter.isStopped ? 'stop' : 'length';
  }

  private add(text: string): string {
    this.text += text;
    return text;
  }
}
