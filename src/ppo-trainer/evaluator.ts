import { concatFloats, offsetsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { PromptRecord } from '../data/index.ts';
import type { GeneratedText, GenerationOptions, TurnResponder } from '../generation/index.ts';
import type { EvaluationReport } from '../loop/index.ts';
import type { PolicyModel, ValueModel } from '../models/index.ts';
import type {
  PromptInfo,
  RewardSample,
  ScoredSamples,
  TokenAndTextScores,
} from '../reward-kl/index.ts';
import { toRewardSamples } from '../reward-kl/reward-source.ts';
import { penaliseUnfinished } from '../reward-kl/score-normalizer.ts';
import { type ConvergenceConfig, ConvergenceMonitor } from './convergence.ts';
import type { EpisodeContext } from './episode-context.ts';
import {
  type PerformanceConfig,
  performanceOf,
  sumPerResponse,
  type TokenColumns,
} from './performance.ts';

export type EvaluatorConfig = ConvergenceConfig &
  PerformanceConfig &
  Pick<TrainingConfig, 'logSamples'> &
  Pick<PPOConfig, 'seed' | 'temperature' | 'topK' | 'topP' | 'minP' | 'stop' | 'missingEosPenalty'>;

/** The models, scorer and settings of an `Evaluator`. */
export interface EvaluatorOptions {
  readonly config: EvaluatorConfig;
  readonly policy: PolicyModel;
  /** Its decoder is freed once its responses are known. */
  readonly reference: PolicyModel;
  readonly value?: ValueModel | undefined;
  /** Runs episodes of several turns, if there is an environment. */
  readonly episodes?: EpisodeContext | undefined;
  readonly scorer: Scorer;
  /** What training does to scores before it places them, such as normalising; nothing by default.
   *  Values predict these scores, so the explained variance uses them. */
  readonly shapeScores?:
    | ((scored: TokenAndTextScores, samples: readonly RewardSample[]) => TokenAndTextScores)
    | undefined;
}

/** Scores of responses and of their tokens, from training's reward sources, without penalties. */
export type Scorer = (
  samples: readonly RewardSample[],
  context: { readonly signal?: AbortSignal | undefined },
) => Promise<ScoredSamples>;

export interface EvaluationPrompt extends PromptInfo {
  readonly tokens: Int32Array;
  /** The conversation that the prompt renders, if it is a chat. */
  readonly messages?: PromptRecord['messages'];
}

/** The step and coefficient that an evaluation is reported for. */
export interface EvaluateOptions {
  /** Number of completed steps. */
  readonly step: number;
  /** The current β; the config's by default. */
  readonly klCoef?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Counts each response once when it is generated and once when it is measured. */
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

export interface EvaluationProgress {
  readonly done: number;
  readonly total: number;
}

/** Responses in the order of prompts and samples, with their scores. */
interface ScoredResponses extends ScoredSamples {
  readonly texts: readonly GeneratedText[];
  readonly samples: readonly RewardSample[];
  /** The scores with the missing-stop penalty, [B]. */
  readonly penalised: Float32Array;
}

/** The reference's greedy response to a prompt. */
interface RefResponse {
  readonly refResponse: string;
  readonly refScore: number;
  /** The score with the missing-stop penalty. */
  readonly penalised: number;
}

interface GenerateContext {
  /** Which of the evaluation's responses these are. */
  readonly name: 'greedy' | 'sampled' | 'reference';
  readonly step: number;
  readonly generation: GenerationOptions;
  readonly progress: ProgressCounter;
}

/** Responses that run between two checks of the signal. */
const RESPONSES_AT_ONCE = 16;

/**
 * Measures the policy on validation prompts and decides whether training should continue. Random
 * streams are keyed by prompt and sample but not by step, so evaluations differ by the policy alone.
 */
export class Evaluator {
  /** Remembers the run's evaluations. Its state is part of a checkpoint. */
  readonly convergence: ConvergenceMonitor;
  private readonly options: EvaluatorOptions;
  /** The reference never changes, so it responds to each prompt once. */
  private readonly refResponses = new WeakMap<EvaluationPrompt, RefResponse>();

  constructor(options: EvaluatorOptions) {
    this.options = options;
    this.convergence = new ConvergenceMonitor(options.config);
  }

  /** Measures performance and updates the convergence verdict. */
  async evaluate(
    prompts: readonly EvaluationPrompt[],
    options: EvaluateOptions,
  ): Promise<EvaluationReport> {
    const { performance, samples } = await this.measure(prompts, options);
    return { performance, convergence: this.convergence.update(performance), samples };
  }

  /** Measures performance only; `convergence` is not updated. */
  async measure(
    prompts: readonly EvaluationPrompt[],
    options: EvaluateOptions,
  ): Promise<Omit<EvaluationReport, 'convergence'>> {
    if (prompts.length === 0) {
      throw new RangeError('Cannot evaluate: there must be at least one validation prompt, got 0');
    }
    const { config, policy, shapeScores } = this.options;
    const progress = new ProgressCounter(this.countWork(prompts), options);
    const context = { generation: this.greedyOptions(), progress, step: options.step };
    const refs = await this.respondAsReference(prompts, { ...context, name: 'reference' });
    const greedy = await this.respond(policy, prompts, { ...context, name: 'greedy' });
    const sampled = await this.respond(policy, prompts, {
      ...context,
      generation: this.samplingOptions(),
      name: 'sampled',
    });
    const columns = await this.measureTokens(sampled.texts, progress);
    const shown = await this.measureTokens(greedy.texts.slice(0, config.logSamples), progress);
    const performance = performanceOf(
      {
        greedyScores: greedy.penalised,
        refScores: Float32Array.from(refs, ({ penalised }) => penalised),
        tokens: sampled.texts.map(({ tokens }) => tokens),
        scores: sampled.penalised,
        bySource: sampled.bySource,
        finished: sampled.samples.filter(({ finished }) => finished).length,
        shaped: shapeScores?.(sampled, sampled.samples) ?? sampled,
        columns,
      },
      { ...config, klCoef: options.klCoef ?? config.klCoef },
    );
    const samples = sumPerResponse(shown.logratios, shown.offsets).map((kl, i) => {
      const { refResponse, refScore } = refs[i]!;
      const { step } = options;
      return { step, ...describeResponse(greedy, i), kl, refResponse, refScore };
    });
    return { performance, samples };
  }

  /** Generates responses to prompts and scores them. */
  private async respond(
    model: PolicyModel,
    prompts: readonly EvaluationPrompt[],
    { generation, progress, name, step }: GenerateContext,
  ): Promise<ScoredResponses> {
    const { signal } = progress;
    const tokens = prompts.map((prompt) => prompt.tokens);
    const onText = () => progress.advance(1);
    const generate = (environment?: TurnResponder) =>
      model.generate(tokens, { ...generation, environment, signal, onText });
    const records = prompts.map((prompt) => ({ ...prompt, row: prompt.row ?? {} }));
    const { texts, episodes } = (await this.options.episodes?.run(
      records,
      ['evaluation', step, name],
      generate,
    )) ?? { texts: await generate(), episodes: undefined };
    const samples = toRewardSamples(texts, prompts, { episodes });
    const scored = await this.options.scorer(samples, { signal });
    signal?.throwIfAborted();
    expectScores(scored.scores, samples.length);
    const penalised = penaliseUnfinished(scored.scores, samples, this.options.config);
    return { ...scored, texts, samples, penalised };
  }

  private async respondAsReference(
    prompts: readonly EvaluationPrompt[],
    context: GenerateContext,
  ): Promise<RefResponse[]> {
    const { reference } = this.options;
    if (!this.knowsReference(prompts)) {
      try {
        const { texts, scores, penalised } = await this.respond(reference, prompts, context);
        for (const [i, prompt] of prompts.entries()) {
          const response = {
            refResponse: texts[i]!.text,
            refScore: scores[i]!,
            penalised: penalised[i]!,
          };
          this.refResponses.set(prompt, response);
        }
      } finally {
        await reference.dispose();
      }
    }
    return prompts.map((prompt) => this.refResponses.get(prompt)!);
  }

  private knowsReference(prompts: readonly EvaluationPrompt[]): boolean {
    return prompts.every((prompt) => this.refResponses.has(prompt));
  }

  /** Runs the models over finished responses. The sampling logprobs cannot be used: greedy texts have
   *  them at temperature 1, and an int8 decoder differs slightly from the policy. */
  private async measureTokens(
    texts: readonly GeneratedText[],
    progress: ProgressCounter,
  ): Promise<TokenColumns> {
    const { policy, reference, value, config } = this.options;
    const { temperature } = config;
    const logratios: Float32Array[] = [];
    const entropies: Float32Array[] = [];
    const values: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += RESPONSES_AT_ONCE) {
      const group = texts.slice(start, start + RESPONSES_AT_ONCE);
      const prompts = group.map(({ promptTokens }) => promptTokens);
      const responses = group.map(({ tokens }) => tokens);
      const observations = group.map((text) => text.observations);
      const own = await policy.logprobs(prompts, responses, { temperature, observations });
      const ref = await reference.logprobs(prompts, responses, { temperature, observations });
      for (const [i, logprobs] of own.logprobs.entries()) {
        logratios.push(logprobs.map((x, t) => x - ref.logprobs[i]![t]!));
      }
      entropies.push(...own.entropies);
      if (value !== undefined)
        values.push(...(await value.values(prompts, responses, { observations })));
      progress.advance(group.length);
    }
    return {
      offsets: offsetsOf(texts.map(({ tokens }) => tokens.length)),
      logratios: concatFloats(logratios),
      entropies: concatFloats(entropies),
      values: value && concatFloats(values),
    };
  }

  private countWork(prompts: readonly EvaluationPrompt[]): number {
    const { evalBestOf, logSamples } = this.options.config;
    const { length } = prompts;
    const greedy = this.knowsReference(prompts) ? length : 2 * length;
    return greedy + 2 * length * evalBestOf + Math.min(logSamples, length);
  }

  private greedyOptions(): GenerationOptions {
    const { maxNewTokens, stop } = this.options.config;
    return { maxNewTokens, stopStrings: stop, temperature: 0 };
  }

  /** As in training. */
  private samplingOptions(): GenerationOptions {
    const { temperature, topK, topP, minP, seed, evalBestOf } = this.options.config;
    const filters = { ...(topK !== undefined && { topK }), topP, minP };
    const keys = { seed, streamKey: ['evaluation'], numReturnSequences: evalBestOf };
    return { ...this.greedyOptions(), temperature, ...filters, ...keys };
  }
}

/** Counts the work of one evaluation and stops it when its signal is aborted. */
class ProgressCounter {
  readonly signal: AbortSignal | undefined;
  private readonly total: number;
  private readonly onProgress: EvaluateOptions['onProgress'];
  private done = 0;

  constructor(
    total: number,
    { signal, onProgress }: Pick<EvaluateOptions, 'signal' | 'onProgress'>,
  ) {
    this.total = total;
    this.signal = signal;
    this.onProgress = onProgress;
  }

  advance(count: number): void {
    this.done += count;
    this.onProgress?.({ done: this.done, total: this.total });
    this.signal?.throwIfAborted();
  }
}

function describeResponse({ samples, scores }: ScoredResponses, i: number) {
  const { promptIdx, sample, prompt, response, tokens, finished } = samples[i]!;
  const length = tokens.length;
  return { promptIdx, sample, prompt, response, score: scores[i]!, length, finished };
}

/** A single NaN would disable every convergence rule. */
function expectScores(scores: Float32Array, count: number): void {
  if (scores.length !== count) {
    throw new RangeError(
      `Cannot evaluate: the scorer must return ${count} scores, one per response, got ${scores.length}`,
    );
  }
  const bad = scores.findIndex((score) => !Number.isFinite(score));
  if (bad >= 0) {
    throw new RangeError(
      `Cannot evaluate: scores must be finite numbers, got ${scores[bad]} for response ${bad}`,
    );
  }
}
