import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { takeRows } from './decoder/take-rows.ts';
import { ScalarModel, type ScalarModelOptions } from './scalar-model.ts';
import { realTokens, type TokenBatch } from './token-batch.ts';

export interface RewardModelOptions extends ScalarModelOptions {
  readonly tokenizer: Tokenizer;
}

/** A learned score for each whole sequence. Subclasses may add their own terms in `forward`. */
export class RewardModel extends ScalarModel {
  readonly tokenizer: Tokenizer;

  constructor(options: RewardModelOptions) {
    super(options);
    this.tokenizer = options.tokenizer;
  }

  /** The score at the last token of each sequence. */
  async forward(inputIds: TokenBatch, attentionMask?: TokenBatch): Promise<Float32Array> {
    const scores: number[] = [];
    for await (const { sequences, hidden, starts } of this.runs(
      realTokens(inputIds, attentionMask),
    )) {
      const last = sequences.map(({ length }, i) => starts[i]! + length - 1);
      scores.push(...(await this.scores(takeRows(hidden, last))));
    }
    return Float32Array.from(scores);
  }
}
