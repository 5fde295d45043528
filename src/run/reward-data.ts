import { type RewardRunConfig, rewardDataShape } from '../config/stage-run-config.ts';
import { loadPreferences, type PreferenceDataset, type PreferenceGroup } from '../data/index.ts';
import type { LoadedModel } from '../models/index.ts';
import type { PreferenceTexts, RatedText } from '../stages/index.ts';
import { pairMetrics } from '../stages/reward-objective.ts';
import { pick } from './run-work.ts';

const MOST_REFERENCE_TEXTS = 1000;

/** Pairs, or ratings, of whole texts. */
export interface RewardSide {
  readonly pairs: readonly PreferenceTexts[];
  readonly ratings: readonly RatedText[];
}

/** How well the length of texts alone foresees preferences. */
export interface LengthBaseline {
  readonly winner: 'longer' | 'shorter';
  readonly accuracy: number;
}

/** The preferences that a config names, for a model with this tokenizer and context. */
export async function loadRunPreferences(
  config: RewardRunConfig,
  { tokenizer, contextLength }: Pick<LoadedModel, 'tokenizer'> & { contextLength: number },
): Promise<PreferenceDataset> {
  const { data, ...options } = pick(config, rewardDataShape);
  const { seed } = config;
  const dataset = await loadPreferences(data, tokenizer, { ...options, seed, contextLength });
  const isRated = ([group]: readonly PreferenceGroup[]) => group!.ratings.length > 0;
  const { train, validation } = dataset;
  if (validation.length > 0 && isRated(train) !== isRated(validation)) {
    const [wanted, got] = isRated(train) ? ['ratings', 'pairs'] : ['pairs', 'ratings'];
    throw new Error(
      `Cannot validate ${data}: the rows to validate on must hold ${wanted} as those to train on do, got ${got}`,
    );
  }
  return dataset;
}

/** What rows say, of whole texts: each prompt with its completion. */
export function toSide(groups: readonly PreferenceGroup[]): RewardSide {
  const pairs = groups.flatMap((group) =>
    group.pairs.map(({ promptTokens, chosenTokens, rejectedTokens, margin, target, weight }) => ({
      chosen: join(promptTokens, chosenTokens),
      rejected: join(promptTokens, rejectedTokens),
      ...{ margin, target, weight },
    })),
  );
  const ratings = groups.flatMap((group) =>
    group.ratings.map(({ promptTokens, tokens, rating }) => ({
      text: join(promptTokens, tokens),
      rating,
    })),
  );
  return { pairs, ratings };
}

/** The texts whose scores are to have mean 0 and deviation 1: different ones that are validated on,
 *  or those that are trained on where these are too few to have a deviation. */
export function referenceTexts(train: RewardSide, validation: RewardSide): Int32Array[] {
  const held = listTexts(validation, MOST_REFERENCE_TEXTS);
  return held.length > 1 ? held : listTexts(train, MOST_REFERENCE_TEXTS);
}

/** Different texts of a side, at most so many. */
function listTexts({ pairs, ratings }: RewardSide, most: number): Int32Array[] {
  const texts = new Map<string, Int32Array>();
  const all = [
    ...pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    ...ratings.map(({ text }) => text),
  ];
  for (const text of all) {
    if (texts.size === most) break;
    texts.set(text.join(), text);
  }
  return [...texts.values()];
}

/** Whichever of longer and shorter wins more of the pairs to train on, on those to validate on;
 *  undefined where one of the two has nothing but ties.
 *  @example shorter wins 2 of 3 pairs to train on, and 1 of 4 to validate on  →  shorter, ¼ */
export function lengthBaseline(
  train: readonly PreferenceTexts[],
  validation: readonly PreferenceTexts[],
): LengthBaseline | undefined {
  const [learned, held] = [longerWins(train), longerWins(validation)];
  if (Number.isNaN(learned + held)) return undefined;
  return learned >= 0.5
    ? { winner: 'longer', accuracy: held }
    : { winner: 'shorter', accuracy: 1 - held };
}

/** NaN where there are no pairs but ties. */
function longerWins(pairs: readonly PreferenceTexts[]): number {
  const lengths = pairs.flatMap(({ chosen, rejected }) => [chosen.length, rejected.length]);
  return pairMetrics(Float32Array.from(lengths), pairs).accuracy;
}

function join(prompt: Int32Array, completion: Int32Array): Int32Array {
  const text = new Int32Array(prompt.length + completion.length);
  text.set(prompt);
  text.set(completion, prompt.length);
  return text;
}
