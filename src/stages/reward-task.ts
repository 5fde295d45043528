import type { RewardConfig } from '../config/stage-config.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { Metrics } from '../loop/records.ts';
import { PackedBatch, type RewardModel } from '../models/index.ts';
import { groupByTokens } from '../models/token-batch.ts';
import {
  preferenceLoss,
  type RoleOptimizer,
  ratingLoss,
  runScalar,
  scalarGradients,
} from '../training/index.ts';
import { pairMetrics } from './pair-metrics.ts';
import type { PreferenceTexts, RatedText, RewardTexts } from './reward-texts.ts';

interface LearnOptions {
  readonly model: RewardModel;
  readonly optimizer: RoleOptimizer;
  readonly random: RandomStream;
}

type TaskConfig = Pick<RewardConfig, 'maxTokensAtOnce' | 'saveActivations'>;

/** What a reward model learns from, in groups that run together. */
export class RewardTask {
  private readonly texts: RewardTexts;
  private readonly config: TaskConfig;

  constructor(texts: RewardTexts, config: TaskConfig) {
    this.texts = texts;
    this.config = config;
  }

  /** Adds the gradients of one optimiser step. */
  async learn(indices: Int32Array, options: LearnOptions): Promise<Metrics> {
    const { texts } = this;
    if (isRated(texts))
      return this.learnRatings(
        Array.from(indices, (i) => texts[i]!),
        options,
      );
    return this.learnPairs(
      Array.from(indices, (i) => texts[i]!),
      options,
    );
  }

  async validate(model: RewardModel): Promise<Metrics> {
    const { texts } = this;
    if (isRated(texts)) {
      const scores = await model.forward(texts.map(({ text }) => text));
      const ratings = texts.map(({ rating }) => rating);
      return { 'eval/loss': ratingLoss(scores, ratings, texts.length).loss };
    }
    const scores = await model.forward(texts.flatMap(({ chosen, rejected }) => [chosen, rejected]));
    const { loss, accuracy, margin, calibration } = pairMetrics(scores, texts);
    return {
      'eval/loss': loss,
      'eval/accuracy': accuracy,
      'eval/margin': margin,
      'eval/calibration': calibration,
    };
  }

  private async learnPairs(
    pairs: readonly PreferenceTexts[],
    options: LearnOptions,
  ): Promise<Metrics> {
    const totalWeight = pairs.reduce((sum, { weight = 1 }) => sum + weight, 0);
    let [loss, correct, margin] = [0, 0, 0];
    const lengths = pairs.map(({ chosen, rejected }) => ({
      length: chosen.length + rejected.length,
    }));
    for (const { start, end } of groupByTokens(lengths, this.config.maxTokensAtOnce)) {
      const group = pairs.slice(start, end);
      const sequences = group.flatMap(({ chosen, rejected }) => [chosen, rejected]);
      const differentiate = (scores: Float32Array) => {
        const result = preferenceLoss({
          scores,
          margins: group.map((pair) => pair.margin ?? 0),
          targets: group.map(({ target = 1 }) => target),
          weights: group.map(({ weight = 1 }) => weight),
          totalWeight,
        });
        loss += result.loss;
        correct += result.correct;
        margin += result.margin;
        return result.dScores;
      };
      await this.accumulate(sequences, differentiate, options);
    }
    return {
      'train/loss': loss,
      'train/accuracy': correct / totalWeight,
      'train/margin': margin / totalWeight,
    };
  }

  private async learnRatings(rated: readonly RatedText[], options: LearnOptions): Promise<Metrics> {
    let loss = 0;
    const lengths = rated.map(({ text }) => text);
    for (const { start, end } of groupByTokens(lengths, this.config.maxTokensAtOnce)) {
      const group = rated.slice(start, end);
      const sequences = group.map(({ text }) => text);
      const differentiate = (scores: Float32Array) => {
        const ratings = group.map(({ rating }) => rating);
        const result = ratingLoss(scores, ratings, rated.length);
        loss += result.loss;
        return result.dScores;
      };
      await this.accumulate(sequences, differentiate, options);
    }
    return { 'train/loss': loss };
  }

  /** Accumulates the gradients of texts that run together.
   *  @param differentiate returns ∂L/∂score of each text */
  private async accumulate(
    sequences: readonly Int32Array[],
    differentiate: (scores: Float32Array) => Float32Array,
    { model, optimizer, random }: LearnOptions,
  ): Promise<void> {
    const batch = new PackedBatch(sequences, { share: true });
    const rows = batch.lastRows();
    const save = this.config.saveActivations;
    const pass = await runScalar(model, batch, { rows, save, dropout: random });
    await scalarGradients(pass, differentiate(pass.scores), optimizer.add);
  }
}

function isRated(texts: RewardTexts): texts is readonly RatedText[] {
  return texts[0] !== undefined && 'rating' in texts[0];
}
