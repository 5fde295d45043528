import { offsetsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { Rollout } from '../token-attribution/rollout.ts';
import { askSource } from './ask-source.ts';
import { combineScores } from './combine-scores.ts';
import { KlController, type KlControllerConfig } from './kl-controller.ts';
import { placeRewards } from './place-rewards.ts';
import type {
  ComputedRewards,
  ComputeRewardsOptions,
  RewardComputation,
  RewardComputerState,
  ScoredSamples,
  ShapedScores,
  TokenAndTextScores,
} from './reward-computation.ts';
import { rewardMetrics } from './reward-metrics.ts';
import type { RewardSample, WeightedSource } from './reward-source.ts';
import { ScoreNormalizer, type ScoreNormalizerConfig } from './score-normalizer.ts';

export type RewardComputerConfig = KlControllerConfig &
  ScoreNormalizerConfig &
  Pick<PPOConfig, 'klPlacement' | 'rewardPlacement' | 'missingEosPenalty' | 'maxNewTokens'>;

export interface RewardComputerOptions {
  readonly config: RewardComputerConfig;
  readonly sources: readonly WeightedSource[];
  /** Milliseconds without a new score after which a source has hung; 60 s by default. */
  readonly rewardTimeout?: number | undefined;
}

/** Scores of responses, and rewards of their tokens: normalised, with the KL penalty. */
export class RewardComputer implements RewardComputation {
  private readonly config: RewardComputerConfig;
  private readonly sources: readonly WeightedSource[];
  private readonly timeout: number;
  private readonly klController: KlController;
  private readonly scoreNormalizer: ScoreNormalizer;
  private latestKlCoef: number;

  constructor({ config, sources, rewardTimeout = 60_000 }: RewardComputerOptions) {
    checkSources(sources);
    if (!(rewardTimeout > 0)) {
      throw new RangeError(
        `Cannot compute rewards: rewardTimeout must be above 0 ms, got ${rewardTimeout}`,
      );
    }
    this.config = config;
    this.sources = sources;
    this.timeout = rewardTimeout;
    this.klController = new KlController(config);
    this.scoreNormalizer = new ScoreNormalizer(config);
    this.latestKlCoef = config.klCoef;
  }

  /** β of the latest rewards; of the next ones if there are none yet. */
  get klCoef(): number {
    return this.latestKlCoef;
  }

  /** Asks all sources at once; when one fails, the others' signals fire. */
  async score(
    samples: readonly RewardSample[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ScoredSamples> {
    const stop = new AbortController();
    const all = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const options = { signal: all, timeout: this.timeout };
    const asked = this.sources.map(async ({ source, weight }) => {
      return { name: source.name, weight, scores: await askSource(source, samples, options) };
    });
    try {
      return combineScores(samples, await Promise.all(asked));
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  shapeScores(scored: TokenAndTextScores, samples: readonly RewardSample[]): ShapedScores {
    const penalised = this.penalise(scored.scores, samples);
    const { scores: normalized, scale } = this.scoreNormalizer.normalize(penalised);
    const tokenScores = scored.tokenScores?.map((score) => score * scale);
    const offsets = offsetsOf(samples.map(({ tokens }) => tokens.length));
    const scores = withoutTokens(normalized, { scaled: tokenScores, offsets });
    return { penalised, normalized, scores, tokenScores };
  }

  /** Score → penalty of a missing stop → normalisation and cut → KL penalty and placement.
   *  The sum over a response is what is normalised: scores of tokens are scaled with it and stay
   *  where they are, and the rest goes where rewardPlacement says. Whitening comes later. */
  async computeRewards(
    { kl, offsets }: Pick<Rollout, 'kl' | 'offsets'>,
    { samples, signal }: ComputeRewardsOptions,
  ): Promise<ComputedRewards> {
    if (samples.length === 0 || samples.length !== offsets.length - 1) {
      throw new RangeError(
        `Cannot compute rewards: there must be a sample for each of the rollout's responses (${offsets.length - 1}), got ${samples.length}`,
      );
    }
    const scored = await this.score(samples, { signal });
    this.scoreNormalizer.add(this.penalise(scored.scores, samples));
    const { penalised, normalized, ...parts } = this.shapeScores(scored, samples);
    const klCoef = this.klController.coefficient;
    const placed = placeRewards({ ...parts, kl, offsets }, { ...this.config, klCoef });
    const { bySource } = scored;
    const metrics = rewardMetrics({ scores: penalised, normalized, bySource, kl, klCoef });
    this.klController.update(metrics['objective/kl']!, samples.length);
    this.latestKlCoef = klCoef;
    return { ...placed, scores: scored.scores, metrics };
  }

  state(): RewardComputerState {
    return {
      klCoef: this.latestKlCoef,
      klController: this.klController.state(),
      scoreNormalizer: this.scoreNormalizer.state(),
    };
  }

  restore(state: unknown): void {
    const { klCoef, klController, scoreNormalizer } = (state ?? {}) as Partial<RewardComputerState>;
    if (klCoef === undefined || klController === undefined || scoreNormalizer === undefined) {
      throw new TypeError(
        `Cannot restore rewards: the state must have klCoef, klController and scoreNormalizer, got ${JSON.stringify(state)}; restore what state() gave`,
      );
    }
    this.klController.restore(klController);
    this.scoreNormalizer.restore(scoreNormalizer);
    this.latestKlCoef = klCoef;
  }

  private penalise(scores: Float32Array, samples: readonly RewardSample[]): Float32Array {
    const { missingEosPenalty } = this.config;
    return scores.map((score, i) => score - (samples[i]!.finished ? 0 : missingEosPenalty));
  }
}

/** The part of each response's score that no token has. */
function withoutTokens(
  scores: Float32Array,
  { scaled, offsets }: { scaled: Float32Array | undefined; offsets: Int32Array },
): Float32Array {
  if (scaled === undefined) return scores;
  return scores.map((score, i) => {
    const tokens = scaled.subarray(offsets[i]!, offsets[i + 1]!);
    return score - tokens.reduce((sum, x) => sum + x, 0);
  });
}

function checkSources(sources: readonly WeightedSource[]): void {
  if (sources.length === 0) {
    throw new RangeError(
      'Cannot compute rewards: at least one reward source must be given, got none',
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
        `Cannot compute rewards: reward sources must have different names, got "${source.name}" twice; name them, as metrics carry the names`,
      );
    }
    names.add(source.name);
  }
}
