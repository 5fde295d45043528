import type { Tokenizer } from '../base-setup/tokenizer/tokenizer.ts';
import { freeTensors } from '../engine/runtime/index.ts';

import type { TrunkOptions } from './role-model.ts';
import { ScalarModel, type ScalarModelOptions } from './scalar-model.ts';
import { realTokens, type TokenBatch } from './token-batch.ts';

/** Mean and standard deviation of the scores of reference texts. */
export interface ScoreNormalization {
  readonly mean: number;
  readonly std: number;
}

/** The base, head and tokenizer of a reward model. */
export interface RewardModelOptions extends ScalarModelOptions {
  readonly tokenizer: Tokenizer;
  /** Normalises scores as (score − mean)/std; off by default. */
  readonly normalization?: ScoreNormalization | undefined;
}

/** A learned score for each whole sequence. Subclasses may add their own terms in `forward`. */
export class RewardModel extends ScalarModel {
  readonly tokenizer: Tokenizer;
  normalization: ScoreNormalization;

  constructor(options: RewardModelOptions) {
    super(options);
    this.tokenizer = options.tokenizer;
    this.normalization = options.normalization ?? { mean: 0, std: 1 };
  }

  /** The score at the last token of each sequence, normalised. */
  async forward(
    inputIds: TokenBatch,
    attentionMask?: TokenBatch,
    options: TrunkOptions = {},
  ): Promise<Float32Array> {
    const scores: number[] = [];
    const sequences = realTokens(inputIds, attentionMask);
    for await (const { batch, hidden } of this.runs(sequences, options)) {
      const last = await this.base.deviceRows.take(hidden, batch.lastRows());
      scores.push(...(await this.scores(last)));
      freeTensors(last);
    }
    const { mean, std } = this.normalization;
    return Float32Array.from(scores, (score) => (score - mean) / std);
  }
}

/** A class that extends RewardModel. */
export type RewardModelClass = new (options: RewardModelOptions) => RewardModel;
