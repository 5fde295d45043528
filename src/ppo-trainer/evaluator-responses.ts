import type { GeneratedText, GenerationOptions, Generator } from '../generation/index.ts';
import type { RewardSample } from '../reward-kl/reward-source.ts';
import type { TokenAndTextScores } from '../reward-kl/score-samples.ts';
import type { ProgressCounter } from './evaluator-progress.ts';

export interface EvaluationPrompt {
  readonly text: string;
  readonly tokens: Int32Array;
  /** The data set's other columns, for reward sources. */
  readonly row?: RewardSample['row'];
}

/** A score for each response, and of its tokens, by the reward sources of training. */
export type Scorer = (
  samples: readonly RewardSample[],
  context: { readonly signal?: AbortSignal | undefined },
) => Promise<TokenAndTextScores>;

/** Responses in the order of prompts and samples. */
export interface ScoredResponses extends TokenAndTextScores {
  readonly texts: readonly GeneratedText[];
  /** The same as reward sources see them. */
  readonly samples: readonly RewardSample[];
}

interface RespondOptions {
  readonly generator: Generator;
  readonly generation: GenerationOptions;
  readonly scorer: Scorer;
  readonly progress: ProgressCounter;
}

/** Generates responses to prompts and has them scored. */
export async function respond(
  prompts: readonly EvaluationPrompt[],
  { generator, generation, scorer, progress }: RespondOptions,
): Promise<ScoredResponses> {
  const { signal } = progress;
  const { numReturnSequences = 1 } = generation;
  const texts: GeneratedText[] = [];
  const tokens = prompts.map((prompt) => prompt.tokens);
  for await (const { finished } of generator.stream(tokens, {
    ...generation,
    ...(signal && { signal }),
  })) {
    if (finished === undefined) continue;
    texts[finished.prompt * numReturnSequences + finished.sample] = finished;
    progress.advance(1);
  }
  const samples = texts.map((text) => toRewardSample(text, prompts[text.prompt]!));
  const { scores, tokenScores } = await scorer(samples, { signal });
  signal?.throwIfAborted();
  expectScores(scores, samples.length);
  return { texts, samples, scores, tokenScores };
}

function toRewardSample(text: GeneratedText, prompt: EvaluationPrompt): RewardSample {
  return {
    prompt: prompt.text,
    response: text.text,
    promptTokens: text.promptTokens,
    tokens: text.tokens,
    finished: text.finishReason === 'stop',
    promptIdx: text.prompt,
    sample: text.sample,
    ...(prompt.row && { row: prompt.row }),
  };
}

/** One NaN would silence every rule of convergence. */
function expectScores(scores: Float32Array, count: number): void {
  if (scores.length !== count) {
    throw new RangeError(
      `Cannot evaluate: the scorer must give ${count} scores, one for each response, got ${scores.length}`,
    );
  }
  const bad = scores.findIndex((score) => !Number.isFinite(score));
  if (bad >= 0) {
    throw new RangeError(
      `Cannot evaluate: scores must be finite numbers, got ${scores[bad]} for response ${bad}`,
    );
  }
}
