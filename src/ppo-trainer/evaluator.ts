import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { GeneratedText, GenerationOptions } from '../generation/index.ts';
import type { EvaluationReport, Performance } from '../loop/evaluation-report.ts';
import type { PolicyModel } from '../models/policy-model.ts';
import type { ValueModel } from '../models/value-model.ts';
import type { TokenAndTextScores } from '../reward-kl/reward-computation.ts';
import type { RewardSample } from '../reward-kl/reward-source.ts';
import { type ConvergenceConfig, ConvergenceMonitor } from './convergence.ts';
import { measureTokens, sumEach, type TokenColumns } from './evaluator-columns.ts';
import { type PerformanceConfig, performanceOf } from './evaluator-performance.ts';
import { type EvaluationProgress, ProgressCounter } from './evaluator-progress.ts';
import { ReferenceResponses, type RefResponse } from './evaluator-reference.ts';
import {
  type EvaluationPrompt,
  respond,
  type ScoredResponses,
  type Scorer,
} from './evaluator-responses.ts';

export type EvaluatorConfig = ConvergenceConfig &
  PerformanceConfig &
  Pick<TrainingConfig, 'logSamples'> &
  Pick<PPOConfig, 'seed' | 'temperature' | 'topK' | 'topP' | 'minP' | 'stop'>;

export interface EvaluatorOptions {
  readonly config: EvaluatorConfig;
  readonly policy: PolicyModel;
  /** The base without an adapter. Its decoder is freed as soon as its responses are known. */
  readonly reference: PolicyModel;
  readonly value?: ValueModel | undefined;
  readonly scorer: Scorer;
  /** What training does to scores before it places them, such as to normalise them; nothing if not
   *  given. Values foresee these scores, so the explained variance is of them. */
  readonly shapeScores?:
    | ((scored: TokenAndTextScores, samples: readonly RewardSample[]) => TokenAndTextScores)
    | undefined;
}

export interface EvaluateOptions {
  /** Steps made so far. */
  readonly step: number;
  /** β as it is now; the config's if not given. */
  readonly klCoef?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

interface Answers {
  readonly greedy: ScoredResponses;
  readonly sampled: ScoredResponses;
  readonly refs: readonly RefResponse[];
}

/**
 * Measures the policy on validation prompts and says whether training should go on. Random streams
 * are keyed by prompt and sample but not by step: evaluations differ by the policy alone, and their
 * curve is the smoother for it.
 */
export class Evaluator {
  /** Remembers the evaluations; its state belongs into a checkpoint. */
  readonly convergence: ConvergenceMonitor;
  private readonly options: EvaluatorOptions;
  private readonly refResponses: ReferenceResponses;

  constructor(options: EvaluatorOptions) {
    this.options = options;
    this.refResponses = new ReferenceResponses(options.reference, options.scorer);
    this.convergence = new ConvergenceMonitor(options.config);
  }

  /** The performance, and what it means for the run. */
  async evaluate(
    prompts: readonly EvaluationPrompt[],
    options: EvaluateOptions,
  ): Promise<EvaluationReport> {
    const { performance, samples } = await this.measure(prompts, options);
    return { performance, convergence: this.convergence.update(performance), samples };
  }

  /** The performance alone: `convergence` learns nothing of it. */
  async measure(
    prompts: readonly EvaluationPrompt[],
    options: EvaluateOptions,
  ): Promise<Omit<EvaluationReport, 'convergence'>> {
    if (prompts.length === 0) {
      throw new RangeError(
        'Cannot evaluate: there must be at least one validation prompt, got none',
      );
    }
    const { config } = this.options;
    const progress = new ProgressCounter(this.countWork(prompts), options);
    const greedily = { generation: this.greedy(), progress };
    const refs = await this.refResponses.ask(prompts, greedily);
    const greedy = await this.askPolicy(prompts, greedily);
    const sampled = await this.askPolicy(prompts, { generation: this.sampling(), progress });
    const columns = await this.measureTokens(sampled.texts, progress);
    const shown = await this.measureTokens(greedy.texts.slice(0, config.logSamples), progress);
    const kls = sumEach(shown.logratios, shown.offsets);
    const klCoef = options.klCoef ?? config.klCoef;
    return {
      performance: this.performance({ greedy, sampled, refs }, { columns, klCoef }),
      samples: kls.map((kl, i) => ({
        step: options.step,
        ...describeResponse(greedy, i),
        kl,
        ...refs[i]!,
      })),
    };
  }

  private performance(
    { greedy, sampled, refs }: Answers,
    { columns, klCoef }: { columns: TokenColumns; klCoef: number },
  ): Performance {
    const { config, shapeScores } = this.options;
    const { texts, samples, scores } = sampled;
    const shaped = shapeScores?.(sampled, samples) ?? sampled;
    return performanceOf(
      {
        greedyScores: greedy.scores,
        refScores: Float32Array.from(refs, ({ refScore }) => refScore),
        tokens: texts.map(({ tokens }) => tokens),
        scores,
        shaped,
        columns,
      },
      { ...config, klCoef },
    );
  }

  private askPolicy(
    prompts: readonly EvaluationPrompt[],
    { generation, progress }: { generation: GenerationOptions; progress: ProgressCounter },
  ): Promise<ScoredResponses> {
    const { policy, scorer } = this.options;
    return respond(prompts, { generator: policy.generator, generation, scorer, progress });
  }

  private measureTokens(
    texts: readonly GeneratedText[],
    progress: ProgressCounter,
  ): Promise<TokenColumns> {
    const { policy, reference, value, config } = this.options;
    const { temperature } = config;
    return measureTokens(texts, { policy, reference, value, temperature, progress });
  }

  private countWork(prompts: readonly EvaluationPrompt[]): number {
    const { evalBestOf, logSamples } = this.options.config;
    const { length } = prompts;
    const greedy = this.refResponses.knows(prompts) ? length : 2 * length;
    return greedy + 2 * length * evalBestOf + Math.min(logSamples, length);
  }

  private greedy(): GenerationOptions {
    const { maxNewTokens, stop } = this.options.config;
    return { maxNewTokens, stopStrings: stop, temperature: 0 };
  }

  /** As in training. */
  private sampling(): GenerationOptions {
    const { temperature, topK, topP, minP, seed, evalBestOf } = this.options.config;
    const filters = { ...(topK !== undefined && { topK }), topP, minP };
    const keys = { seed, streamKey: ['evaluation'], numReturnSequences: evalBestOf };
    return { ...this.greedy(), temperature, ...filters, ...keys };
  }
}

function describeResponse({ samples, scores }: ScoredResponses, i: number) {
  const { promptIdx, sample, prompt, response, tokens, finished } = samples[i]!;
  return {
    promptIdx,
    sample,
    prompt,
    response,
    score: scores[i]!,
    length: tokens.length,
    finished,
  };
}
