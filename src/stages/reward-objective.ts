import type { RewardConfig } from '../config/stage-config.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { Metrics } from '../loop/records.ts';
import { PackedBatch, type RewardModel, runsInOneSession } from '../models/index.ts';
import { groupByTokens } from '../models/token-batch.ts';
import {
  jointScalarGradients,
  type LogisticSlopes,
  logisticScoreSlopes,
  type PreferenceLoss,
  preferenceLoss,
  preferenceSlopes,
  type RoleOptimizer,
  ratingLoss,
  ratingSlopes,
  runScalar,
  scalarGradients,
} from '../training/index.ts';

interface LearnOptions {
  readonly model: RewardModel;
  readonly optimizer: RoleOptimizer;
  readonly random: RandomStream;
}

type TaskConfig = Pick<RewardConfig, 'maxTokensAtOnce' | 'saveActivations'>;

/** Losses and gradients of a reward model on its training texts, in groups that run together. */
export class RewardObjective {
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
    let [loss, judged, correct, margin] = [0, 0, 0, 0];
    const lengths = pairs.map(({ chosen, rejected }) => ({
      length: chosen.length + rejected.length,
    }));
    for (const { start, end } of groupByTokens(lengths, this.config.maxTokensAtOnce)) {
      const group = pairs.slice(start, end);
      const sequences = group.flatMap(({ chosen, rejected }) => [chosen, rejected]);
      const columns = {
        margins: group.map((pair) => pair.margin ?? 0),
        targets: group.map(({ target = 1 }) => target),
        weights: group.map(({ weight = 1 }) => weight),
        totalWeight,
      };
      const result = await this.accumulate(sequences, options, {
        slopes: preferenceSlopes(columns),
        evaluate: (scores) => preferenceLoss({ scores, ...columns }),
      });
      loss += result.loss;
      judged += result.judged;
      correct += result.correct;
      margin += result.margin;
    }
    // A batch of ties has a loss only.
    if (judged === 0) return { 'train/loss': loss };
    return {
      'train/loss': loss,
      'train/accuracy': correct / judged,
      'train/margin': margin / judged,
    };
  }

  private async learnRatings(rated: readonly RatedText[], options: LearnOptions): Promise<Metrics> {
    let loss = 0;
    const lengths = rated.map(({ text }) => text);
    for (const { start, end } of groupByTokens(lengths, this.config.maxTokensAtOnce)) {
      const group = rated.slice(start, end);
      const sequences = group.map(({ text }) => text);
      const ratings = group.map(({ rating }) => rating);
      const result = await this.accumulate(sequences, options, {
        slopes: ratingSlopes(ratings, rated.length),
        evaluate: (scores) => ratingLoss(scores, ratings, rated.length),
      });
      loss += result.loss;
    }
    return { 'train/loss': loss };
  }

  /** Accumulates the gradients of texts that run together; returns their loss. */
  private async accumulate<L extends ScoreLoss>(
    sequences: readonly Int32Array[],
    { model, optimizer, random: dropout }: LearnOptions,
    { slopes, evaluate }: { readonly slopes: LogisticSlopes; evaluate(scores: Float32Array): L },
  ): Promise<L> {
    const batch = new PackedBatch(sequences, { share: true });
    const rows = batch.lastRows();
    if (runsInOneSession(model)) {
      const options = { rows, dropout, slopes: logisticScoreSlopes(slopes) };
      const accumulate = optimizer.add;
      return evaluate(await jointScalarGradients(model, batch, { ...options, accumulate }));
    }
    const save = this.config.saveActivations;
    const pass = await runScalar(model, batch, { rows, save, dropout });
    const loss = evaluate(pass.scores);
    await scalarGradients(pass, loss.dScores, optimizer.add);
    return loss;
  }
}

type ScoreLoss = Pick<PreferenceLoss, 'loss' | 'dScores'>;

function isRated(texts: RewardTexts): texts is readonly RatedText[] {
  return texts[0] !== undefined && 'rating' in texts[0];
}

/** Two whole texts, prompt and response, of which one is better. */
export interface PreferenceTexts {
  readonly chosen: Int32Array;
  readonly rejected: Int32Array;
  /** Margin by which the chosen one should win; 0 by default. */
  readonly margin?: number | undefined;
  /** Probability that the chosen one wins: 1 by default, ½ for a tie. */
  readonly target?: number | undefined;
  /** Weight of the pair in the loss; 1 by default. */
  readonly weight?: number | undefined;
}

/** A whole text and its rating in 0 … 1. */
export interface RatedText {
  readonly text: Int32Array;
  readonly rating: number;
}

/** All pairs, or all ratings. */
export type RewardTexts = readonly PreferenceTexts[] | readonly RatedText[];

const BINS = 10;

/**
 * How well scores predict preferences; scores alternate: chosen, rejected, chosen, …
 * accuracy: weight of pairs whose better side scores higher; equal scores count ½
 * margin: mean s_better − s_worse
 * Both exclude tied pairs; the better side is the rejected one if target < ½.
 * calibration: Σ_bins (n_b/n)·|right_b − sure_b| with sure = σ(|d|), the expected calibration error
 * @example d = [ln 3, −ln 3], targets 1  →  accuracy ½, margin 0; both are ¾ sure, half are right: ¼
 */
export function pairMetrics(scores: Float32Array, pairs: readonly PreferenceTexts[]) {
  const weights = pairs.map(({ weight = 1 }) => weight);
  const totalWeight = sum(weights);
  const targets = pairs.map(({ target = 1 }) => target);
  const margins = pairs.map(({ margin = 0 }) => margin);
  const pairScores = { scores, margins, targets, weights, totalWeight };
  const { loss, judged, correct, margin } = preferenceLoss(pairScores);
  const clear = pairs.flatMap((_, i) =>
    targets[i] === 0.5
      ? []
      : [
          {
            d: Math.sign(targets[i]! - 0.5) * (scores[2 * i]! - scores[2 * i + 1]!),
            w: weights[i]!,
          },
        ],
  );
  const right = ({ d, w }: { d: number; w: number }) => w * (d === 0 ? 0.5 : Number(d > 0));
  return {
    loss,
    accuracy: correct / judged,
    margin: margin / judged,
    calibration: calibrationError(clear.map((pair) => ({ ...pair, right: right(pair) }))) / judged,
  };
}

/** Σ_bins |Σ w·right − Σ w·sure| */
function calibrationError(pairs: readonly { d: number; w: number; right: number }[]): number {
  const gaps = new Float64Array(BINS);
  for (const { d, w, right } of pairs) {
    const sure = 1 / (1 + Math.exp(-Math.abs(d)));
    const bin = Math.min(BINS - 1, Math.floor((sure - 0.5) * 2 * BINS));
    gaps[bin] = gaps[bin]! + right - w * sure;
  }
  return sum(Array.from(gaps, Math.abs));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, x) => total + x, 0);
}
