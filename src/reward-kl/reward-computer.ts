import { offsetsOf, splitByOffsets } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { LayerRole } from '../models/index.ts';
import type { Rollout } from '../token-attribution/rollout.ts';
import { KlController, type KlControllerConfig, type KlControllerState } from './kl-controller.ts';
import { type PlacedRewards, placeRewards } from './place-rewards.ts';
import type { RewardModelRuns, RewardSample, WeightedSource } from './reward-source.ts';
import {
  penaliseUnfinished,
  type ScoreMoments,
  ScoreNormalizer,
  type ScoreNormalizerConfig,
} from './score-normalizer.ts';
import {
  combineScores,
  type ScoredSamples,
  scoreWith,
  type TokenAndTextScores,
} from './score-samples.ts';
import { moments } from './whiten.ts';

/** Scores as they enter the rewards. */
export interface ShapedScores {
  /** With the missing-stop penalty, [B]. */
  readonly penalised: Float32Array;
  /** Penalised, normalised and clipped, [B]. */
  readonly normalized: Float32Array;
  /** The normalised scores minus their token scores, [B]. */
  readonly scores: Float32Array;
  /** Scaled by the same factor, [N]. */
  readonly tokenScores: Float32Array | undefined;
}

/** Rewards of a rollout with the raw scores and metrics behind them. */
export interface ComputedRewards extends PlacedRewards {
  /** Weighted sums of the sources' scores, before penalties and normalisation, [B]. */
  readonly scores: Float32Array;
  /** Scores per source, unweighted, [B]; only for the records of a step. */
  readonly bySource?: ReadonlyMap<string, Float32Array> | undefined;
  readonly metrics: Readonly<Record<string, number>>;
}

/** How samples are scored. */
export interface ScoreOptions extends RewardModelRuns {
  /** Cancels scoring. */
  readonly signal?: AbortSignal | undefined;
}

/** The samples to score, and how. */
export interface ComputeRewardsOptions extends ScoreOptions {
  /** The rollout's responses as reward samples, in order. */
  readonly samples: readonly RewardSample[];
}

/** State for a checkpoint, as JSON data. */
export interface RewardComputerState {
  /** β of the latest rewards. */
  readonly klCoef: number;
  readonly klController: KlControllerState;
  readonly scoreNormalizer: ScoreMoments;
}

/** What a trainer needs to compute rewards. */
export interface RewardComputation {
  /** β of the latest rewards; a loss with the KL penalty uses the same. */
  readonly klCoef: number;
  /** The models that score in this process: a step shares their frozen layers with its other models. */
  readonly roles?: readonly LayerRole[];
  /** Scores samples, such as for an evaluation; changes no state. */
  score(samples: readonly RewardSample[], options?: ScoreOptions): Promise<ScoredSamples>;
  /** Scores as they enter the rewards: penalised, normalised, clipped; changes no state. */
  shapeScores(scored: TokenAndTextScores, samples: readonly RewardSample[]): ShapedScores;
  /** The rewards of a step's rollout; updates the running score moments and an adaptive β. */
  computeRewards(
    rollout: Pick<Rollout, 'kl' | 'offsets'>,
    options: ComputeRewardsOptions,
  ): Promise<ComputedRewards>;
  /** State for a checkpoint, as JSON data. */
  state(): unknown;
  /** Restores the state from a checkpoint. */
  restore(state: unknown): void;
}

/** The config fields that computing rewards reads. */
export type RewardComputerConfig = KlControllerConfig &
  ScoreNormalizerConfig &
  Pick<PPOConfig, 'klPlacement' | 'rewardPlacement' | 'missingEosPenalty' | 'maxNewTokens'>;

/** The reward sources of a `RewardComputer` and their settings. */
export interface RewardComputerOptions {
  readonly config: RewardComputerConfig;
  readonly sources: readonly WeightedSource[];
  /** Seconds without a new score after which a source counts as hung; 60 by default. */
  readonly rewardTimeout?: number | undefined;
}

/** Scores responses and computes their tokens' rewards: normalised, with the KL penalty. */
export class RewardComputer implements RewardComputation {
  private readonly config: RewardComputerConfig;
  private readonly sources: readonly WeightedSource[];
  private readonly timeout: number;
  private readonly klController: KlController;
  private readonly scoreNormalizer: ScoreNormalizer;
  private latestKlCoef: number;

  constructor({ config, sources, rewardTimeout = 60 }: RewardComputerOptions) {
    checkSources(sources);
    if (!(rewardTimeout > 0)) {
      throw new RangeError(
        `Cannot compute rewards: rewardTimeout must be above 0 s, got ${rewardTimeout}`,
      );
    }
    this.config = config;
    this.sources = sources;
    this.timeout = rewardTimeout;
    this.klController = new KlController(config);
    this.scoreNormalizer = new ScoreNormalizer(config);
    this.latestKlCoef = config.klCoef;
  }

  /** β of the latest rewards, or of the first ones if there are none yet. */
  get klCoef(): number {
    return this.latestKlCoef;
  }

  /** Replaces β from the next step on. */
  setKlCoef(klCoef: number): void {
    this.klController.set(klCoef);
  }

  get roles(): readonly LayerRole[] {
    return this.sources.flatMap(({ source }) => source.role ?? []);
  }

  /** Runs all sources concurrently; if one fails, the others' signals fire. */
  async score(
    samples: readonly RewardSample[],
    { signal, ...runs }: ScoreOptions = {},
  ): Promise<ScoredSamples> {
    const stop = new AbortController();
    const all = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const options = { signal: all, timeout: this.timeout, ...runs };
    const pending = this.sources.map(async ({ source, weight }) => {
      return { name: source.name, weight, scores: await scoreWith(source, samples, options) };
    });
    try {
      return combineScores(samples, await Promise.all(pending));
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  shapeScores(scored: TokenAndTextScores, samples: readonly RewardSample[]): ShapedScores {
    const penalised = penaliseUnfinished(scored.scores, samples, this.config);
    const { scores: normalized, scale } = this.scoreNormalizer.normalize(penalised);
    const tokenScores = scored.tokenScores?.map((score) => score * scale);
    const offsets = offsetsOf(samples.map(({ tokens }) => tokens.length));
    const scores = subtractTokenScores(normalized, { tokenScores, offsets });
    return { penalised, normalized, scores, tokenScores };
  }

  /** Score → missing-stop penalty → normalisation and clipping → KL penalty and placement. The total
   *  score of a response is normalised; its token scores are scaled by the same factor and stay on their
   *  tokens, and the rest goes where rewardPlacement says. Whitening comes later. */
  async computeRewards(
    { kl, offsets }: Pick<Rollout, 'kl' | 'offsets'>,
    { samples, ...options }: ComputeRewardsOptions,
  ): Promise<ComputedRewards> {
    if (samples.length === 0 || samples.length !== offsets.length - 1) {
      throw new RangeError(
        `Cannot compute rewards: there must be one sample per response (${offsets.length - 1}), got ${samples.length}`,
      );
    }
    const scored = await this.score(samples, options);
    this.scoreNormalizer.add(penaliseUnfinished(scored.scores, samples, this.config));
    const { penalised, normalized, ...parts } = this.shapeScores(scored, samples);
    const klCoef = this.klController.coefficient;
    const placed = placeRewards({ ...parts, kl, offsets }, { ...this.config, klCoef });
    const { bySource } = scored;
    const metrics = rewardMetrics({ scores: penalised, normalized, bySource, kl, klCoef });
    this.klController.update(metrics['objective/kl']!, samples.length);
    this.latestKlCoef = klCoef;
    return { ...placed, scores: scored.scores, bySource, metrics };
  }

  state(): RewardComputerState {
    return {
      klCoef: this.latestKlCoef,
      klController: this.klController.state(),
      scoreNormalizer: this.scoreNormalizer.state(),
    };
  }

  /** Restores the state from a checkpoint; throws if it is invalid. */
  restore(state: unknown): void {
    const { klCoef, klController, scoreNormalizer } = (state ?? {}) as Partial<RewardComputerState>;
    if (klCoef === undefined || klController === undefined || scoreNormalizer === undefined) {
      throw new TypeError(
        `Cannot restore rewards: the state must have klCoef, klController and scoreNormalizer, got ${JSON.stringify(state)}; restore what state() returned`,
      );
    }
    this.klController.restore(klController);
    this.scoreNormalizer.restore(scoreNormalizer);
    this.latestKlCoef = klCoef;
  }
}

/** Subtracts the sum of its token scores from each response's score. */
function subtractTokenScores(
  scores: Float32Array,
  { tokenScores, offsets }: { tokenScores: Float32Array | undefined; offsets: Int32Array },
): Float32Array {
  if (tokenScores === undefined) return scores;
  const tokens = splitByOffsets(tokenScores, offsets);
  return scores.map((score, i) => score - tokens[i]!.reduce((sum, x) => sum + x, 0));
}

function checkSources(sources: readonly WeightedSource[]): void {
  if (sources.length === 0) {
    throw new RangeError(
      'Cannot compute rewards: there must be at least one reward source, got none',
    );
  }
  const names = new Set<string>();
  for (const { source, weight } of sources) {
    if (!Number.isFinite(weight)) {
      throw new RangeError(
        `Cannot compute rewards: the weight of "${source.name}" must be a finite number, got ${weight}`,
      );
    }
    if (names.has(source.name)) {
      throw new RangeError(
        `Cannot compute rewards: reward sources must have different names, got "${source.name}" twice; name them differently, since metrics use the names`,
      );
    }
    names.add(source.name);
  }
}

interface MetricInputs {
  /** With the missing-stop penalty, before normalisation, [B]. */
  readonly scores: Float32Array;
  /** Normalised and clipped, [B]. */
  readonly normalized: Float32Array;
  readonly bySource: ReadonlyMap<string, Float32Array>;
  readonly kl: Float32Array;
  readonly klCoef: number;
}

/** Metrics of a step's rewards, as in TRL: sums over a response's tokens, then means over responses.
 *  objective/kl = mean Σ_t KL_t;  objective/scores = mean R, with the missing-stop penalty
 *  objective/non_score_reward = −β·objective/kl, wherever the penalty is placed
 *  objective/rlhf_reward = objective/non_score_reward + mean of the normalised and clipped R
 *  rewards/{source}/mean and /std (dividing by B) are of the source's own scores
 *  @example R=[1, 3], KL=[1, 2 | 3], β=0.1  →  kl 3, scores 2, non_score_reward −0.3, rlhf_reward 1.7 */
function rewardMetrics(inputs: MetricInputs): Record<string, number> {
  const { scores, normalized, bySource, kl, klCoef } = inputs;
  const meanKl = kl.reduce((sum, x) => sum + x, 0) / scores.length;
  const nonScore = 0 - klCoef * meanKl;
  const metrics: Record<string, number> = {
    'objective/kl': meanKl,
    'objective/kl_coef': klCoef,
    'objective/scores': moments(scores, 'biased').mean,
    'objective/non_score_reward': nonScore,
    'objective/rlhf_reward': nonScore + moments(normalized, 'biased').mean,
  };
  for (const [name, sourceScores] of bySource) {
    const { mean, variance } = moments(sourceScores, 'biased');
    metrics[`rewards/${name}/mean`] = mean;
    metrics[`rewards/${name}/std`] = Math.sqrt(variance);
  }
  return metrics;
}
