import { splitByOffsets } from '../columns/index.ts';
import type { Episode } from '../environments/index.ts';
import type { Observation } from '../generation/observation.ts';
import type { GeneratedText } from '../generation/sequence.ts';
import type { LayerRole, RewardModel, TrunkOptions } from '../models/index.ts';
import type { Rollout } from '../token-attribution/rollout.ts';

/** A response to score. */
export interface RewardSample {
  readonly prompt: string;
  /** Truncated at the first stop; the last turn of an episode. */
  readonly response: string;
  readonly promptTokens: Int32Array;
  /** Token ids that the policy sampled, including stop tokens. */
  readonly tokens: Int32Array;
  /** What the environment inserted between them, if there is one. */
  readonly observations?: readonly Observation[] | undefined;
  /** The whole conversation, if an environment answered. */
  readonly episode?: Episode | undefined;
  /** Whether a stop token or stop string ended it, rather than the length limit. */
  readonly finished: boolean;
  readonly promptIdx: number;
  /** Index of the response among those to the same prompt. */
  readonly sample: number;
  /** The dataset's other columns. */
  readonly row?: Readonly<Record<string, unknown>> | undefined;
}

/** A number for the whole response, or one per token. */
export type RewardScore = number | ArrayLike<number>;

/** Scores one response, synchronously or not. The signal fires when the score is no longer needed. */
export type RewardFunction = (
  sample: RewardSample,
  context: { readonly signal: AbortSignal },
) => RewardScore | Promise<RewardScore>;

/** Scores whole texts with a reward model, in another process. */
export type ScoreTexts = (
  model: RewardModel,
  sequences: readonly Int32Array[],
  options: { readonly part: number; readonly signal: AbortSignal },
) => Promise<Float32Array>;

/** How reward models over the trainer's base run. */
export interface RewardModelRuns extends TrunkOptions {
  /** Runs them elsewhere; in this process by default. */
  readonly scoreTexts?: ScoreTexts | undefined;
}

/** What a reward source receives besides the samples. */
export interface ScoreContext extends RewardModelRuns {
  /** Fires when the scores are no longer needed. */
  readonly signal: AbortSignal;
  /** A source may call this for each finished sample, which restarts its timeout. */
  readonly onScored?: ((index: number) => void) | undefined;
  /** A source may call this to restart its timeout without a new score. */
  readonly onActive?: (() => void) | undefined;
}

/** Anything that returns scores: a function, a model, a server, people. */
export interface RewardSource {
  /** Appears in metric names and errors. */
  readonly name: string;
  /** Seconds without a new score after which the source counts as hung. Infinity if it has its
   *  own timeouts; the reward computer's `rewardTimeout` by default. */
  readonly timeout?: number | undefined;
  /** The model that scores, if it runs in this process. */
  readonly role?: LayerRole | undefined;
  /** Returns one score per sample, in order. */
  score(samples: readonly RewardSample[], context: ScoreContext): Promise<readonly RewardScore[]>;
  /** Releases what the source holds, such as a thread. */
  dispose?(): void;
}

/** A source and the factor that its scores are multiplied by. */
export interface WeightedSource {
  readonly source: RewardSource;
  readonly weight: number;
}

/** A reward source failed or returned invalid scores. The message is one sentence that names it. */
export class RewardError extends Error {
  override readonly name = 'RewardError';
}

export { messageOf } from '../http/message-of.ts';

/** What a reward sample takes from its prompt. */
export interface PromptInfo {
  readonly text: string;
  /** The dataset's other columns. */
  readonly row?: Readonly<Record<string, unknown>> | undefined;
}

/** Reward samples of a rollout's responses or of generated texts, in order; `prompts` are those that the
 *  responses' prompt indices refer to. */
export function toRewardSamples(
  responses: Pick<Rollout, 'sequences' | 'offsets' | 'tokens'> | readonly GeneratedText[],
  prompts: readonly PromptInfo[],
  { episodes }: { readonly episodes?: readonly Episode[] | undefined } = {},
): RewardSample[] {
  const samples =
    'sequences' in responses ? samplesOfRollout(responses) : responses.map(sampleOfText);
  return samples.map((sample, i) => {
    const { text: prompt, row } = prompts[sample.promptIdx]!;
    const episode = episodes?.[i];
    return { prompt, ...sample, ...(row && { row }), ...(episode && { episode }) };
  });
}

function samplesOfRollout({
  sequences,
  offsets,
  tokens,
}: Pick<Rollout, 'sequences' | 'offsets' | 'tokens'>): Omit<RewardSample, 'prompt'>[] {
  const responses = splitByOffsets(tokens, offsets);
  return sequences.map(({ text, promptTokens, observations, finished, promptIdx, sample }, i) => ({
    response: text,
    ...{ promptTokens, tokens: responses[i]!, finished, promptIdx, sample },
    ...(observations && { observations }),
  }));
}

function sampleOfText(text: GeneratedText): Omit<RewardSample, 'prompt'> {
  const { promptTokens, tokens, observations, finishReason, prompt: promptIdx, sample } = text;
  return {
    response: text.text,
    ...{ promptTokens, tokens, finished: finishReason === 'stop', promptIdx, sample },
    ...(observations && { observations }),
  };
}
