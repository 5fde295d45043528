import type { Tokenizer } from '../base-setup/index.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { Episode } from '../environments/index.ts';
import type { GeneratedText, LikelyTokens } from '../generation/index.ts';
import type { SampleRecord, TokenRecord, TurnRecord } from '../loop/records.ts';
import { whiteningOf } from '../reward-kl/whiten.ts';
import type { PPOComponents } from './components.ts';
import type { PPOStepResult } from './ppo-step.ts';

interface StepRecordOptions {
  readonly step: number;
  /** Index of each of the step's prompts among all prompts. */
  readonly places: ArrayLike<number>;
  readonly components: Pick<PPOComponents, 'config' | 'model'>;
  readonly training: Pick<TrainingConfig, 'logSamples'>;
}

interface StepRecords {
  readonly samples: readonly SampleRecord[];
  /** Only of the first samples, whose alternatives were recorded. */
  readonly tokens: readonly TokenRecord[];
}

/** The log records of a step's responses. */
export function stepRecords(result: PPOStepResult, options: StepRecordOptions): StepRecords {
  return {
    samples: sampleRecords(result, options),
    tokens: tokenRecords(result, options),
  };
}

/** Records of the first responses. */
function sampleRecords(
  {
    experience: { sequences, offsets, scores, kl },
    details: { bySource, episodes },
  }: PPOStepResult,
  { step, places, training }: StepRecordOptions,
): SampleRecord[] {
  return sequences.slice(0, training.logSamples).map((sequence, i) => ({
    step,
    promptIdx: places[sequence.promptIdx]!,
    sample: sequence.sample,
    prompt: sequence.promptText,
    response: sequence.text,
    score: scores[i]!,
    ...(bySource && { sourceScores: sourceScores(bySource, i) }),
    kl: kl.subarray(offsets[i]!, offsets[i + 1]!).reduce((sum, x) => sum + x, 0),
    length: offsets[i + 1]! - offsets[i]!,
    finished: sequence.finished,
    ...(episodes?.[i] && { turns: turnRecords(episodes[i]) }),
  }));
}

/** The turns of a conversation. The policy's are its last messages of an assistant. */
function turnRecords({ messages, turns }: Episode): TurnRecord[] {
  const own = [...messages.keys()]
    .filter((i) => messages[i]!.role === 'assistant')
    .slice(-turns.length);
  return turns.map(({ reward, calls }, turn) => {
    const answers = messages
      .slice(own[turn]! + 1, own[turn + 1])
      .filter(({ role }) => role !== 'tool' || calls.length === 0);
    return {
      text: textOf(messages[own[turn]!]!),
      ...(reward !== undefined && { reward }),
      calls: calls.map((call) => ({ ...call, seconds: round(call.seconds) })),
      answers: answers.map((message) => ({ role: message.role, text: textOf(message) })),
    };
  });
}

function textOf({ content }: Episode['messages'][number]): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

function sourceScores(
  bySource: ReadonlyMap<string, Float32Array>,
  i: number,
): Record<string, number> {
  return Object.fromEntries([...bySource].map(([name, scores]) => [name, round(scores[i]!)]));
}

/** Per-token records of the responses whose alternatives were recorded. */
function tokenRecords(
  result: PPOStepResult,
  { step, places, components: { config, model } }: StepRecordOptions,
): TokenRecord[] {
  const { tokenizer } = model;
  const { klCoef, whitening = null, texts } = result.details;
  const rewardWhitening = config.whitenRewards
    ? whiteningOf(result.experience.rewards, config.whitening)
    : null;
  return texts.flatMap((text, i): TokenRecord[] => {
    const { alternatives } = text;
    const { offsets, entropies: recomputed } = result.experience;
    const entropies = text.entropies ?? recomputed?.subarray(offsets[i]!, offsets[i + 1]!);
    if (entropies === undefined || alternatives === undefined) return [];
    const { promptIdx, sample, promptText, pieces, observations } = result.experience.sequences[i]!;
    return [
      {
        ...{ step, promptIdx: places[promptIdx]!, sample, prompt: promptText },
        ...{ ids: [...text.tokens], texts: pieces },
        ...(observations && {
          observations: observations.map(({ at, text: observed }) => ({ at, text: observed })),
        }),
        ...columnsOf(result, i),
        entropies: Array.from(entropies, round),
        alternatives: alternatives.map((likely, t) => describe(likely, { text, t, tokenizer })),
        ...{ gamma: config.gamma, lambda: config.lam, klCoef, whitening, rewardWhitening },
      },
    ];
  });
}

/** The slice of each column for one sequence. */
function columnsOf({ experience, details }: PPOStepResult, sequence: number) {
  const { offsets, stepOffsets, sequences } = experience;
  const sliceOf = (column: Float32Array, starts: Int32Array) =>
    Array.from(column.subarray(starts[sequence]!, starts[sequence + 1]!), round);
  const length = offsets[sequence + 1]! - offsets[sequence]!;
  const ratios = details.ratios.get(sequences[sequence]!);
  return {
    logprobs: sliceOf(experience.logprobs, offsets),
    refLogprobs: sliceOf(experience.refLogprobs, offsets),
    kl: sliceOf(experience.kl, offsets),
    rewards: sliceOf(details.rewards, stepOffsets),
    values: sliceOf(experience.values, stepOffsets),
    advantages: sliceOf(experience.advantages, offsets),
    returns: sliceOf(experience.returns, stepOffsets),
    ...(experience.samplingLogprobs && {
      samplingLogprobs: sliceOf(experience.samplingLogprobs, offsets),
    }),
    ratios: Array.from({ length }, (_, t) => (ratios === undefined ? null : round(ratios[t]!))),
  };
}

interface TokenPosition {
  readonly text: GeneratedText;
  /** Index of the token in the text. */
  readonly t: number;
  readonly tokenizer: Tokenizer;
}

/** Alternatives with their texts, each decoded after the preceding token. */
function describe({ ids, logprobs }: LikelyTokens, { text, t, tokenizer }: TokenPosition) {
  const before = t > 0 ? text.tokens[t - 1]! : text.promptTokens.at(-1)!;
  return {
    ids: [...ids],
    texts: Array.from(ids, (id) => tokenizer.decode([id], { after: [before] })),
    logprobs: Array.from(logprobs, round),
  };
}

/** Rounds to the precision of float32, without the extra digits of float64.
 *  @example 0.10000000149011612  →  0.1 */
function round(value: number): number {
  return Number(value.toPrecision(7));
}
