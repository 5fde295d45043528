import { z } from 'zod';
import { type Column, concatFloats, concatInts, lengthsOf, offsetsOf } from '../columns/index.ts';
import type { Rollout } from '../token-attribution/rollout.ts';

/**
 * A rollout with everything training needs. Rewards, values and returns are per step: a sequence has
 * one step per token, and one more after its last token if rewards are placed `after-final`.
 */
export interface Experience extends Rollout {
  /** Sequence i has the steps from stepOffsets[i] up to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
  /** Weighted sum of the reward sources' scores, [B]. */
  readonly scores: Float32Array;
  /** r_t, [S] */
  readonly rewards: Float32Array;
  /** V_old of the state before each token, and after the last one if there is such a step, [S]. */
  readonly values: Float32Array;
  /** A_t, whitened if the config says so, [N]. */
  readonly advantages: Float32Array;
  /** G_t = A_t + V_t from unwhitened advantages, [S]. */
  readonly returns: Float32Array;
}

/** What a column has one number per. */
type Axis = 'token' | 'step' | 'sequence';

type ColumnName = Exclude<keyof Experience, 'sequences' | 'offsets' | 'stepOffsets'>;

/** The axis of every column of an experience. */
const COLUMN_AXES = {
  tokens: 'token',
  logprobs: 'token',
  refLogprobs: 'token',
  kl: 'token',
  samplingLogprobs: 'token',
  entropies: 'token',
  advantages: 'token',
  rewards: 'step',
  values: 'step',
  returns: 'step',
  scores: 'sequence',
} as const satisfies Record<ColumnName, Axis>;

/** Copies the chosen sequences, in the order of `indices`; an index may repeat.
 *  @example sequences of 2, 1 and 3 tokens, indices [2, 0]  →  offsets [0, 3, 5] */
export function selectSequences(experience: Experience, indices: readonly number[]): Experience {
  const { length } = experience.sequences;
  const invalid = indices.find((i) => !Number.isInteger(i) || i < 0 || i >= length);
  if (invalid !== undefined) {
    throw new RangeError(
      `Cannot select sequences: indices must be whole numbers below ${length}, got ${invalid}`,
    );
  }
  return gather(indices.map((sequence) => ({ experience, sequence })));
}

/** Copies the sequences of several experiences into one, in order. */
export function concatExperiences(experiences: readonly Experience[]): Experience {
  return gather(
    experiences.flatMap((experience) =>
      experience.sequences.map((_, sequence) => ({ experience, sequence })),
    ),
  );
}

/** Bytes of all columns and offsets plus the tokens of prompts, which samples of one prompt share, and of
 *  observations. Texts are not counted.
 *  @example one sequence, prompt of 3 tokens, response of 2: 3 + 2·2 offsets + 5·2 per token +
 *  3·2 per step + 1 score = 24 numbers  →  96 */
export function byteLengthOf(experience: Experience): number {
  const columns = Object.values(experience).filter((column) => ArrayBuffer.isView(column));
  const prompts = new Set(experience.sequences.map(({ promptTokens }) => promptTokens));
  const observed = experience.sequences.flatMap(({ observations = [] }) =>
    observations.map(({ tokens }) => tokens),
  );
  return [...columns, ...prompts, ...observed].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Throws unless all offsets and columns of an experience are consistent. */
export function checkExperience(experience: Experience): void {
  const { sequences, offsets, stepOffsets } = experience;
  checkOffsets(offsets, { name: 'offsets', sequences: sequences.length });
  checkOffsets(stepOffsets, { name: 'stepOffsets', sequences: sequences.length });
  const stepCounts = lengthsOf(stepOffsets);
  for (const [i, tokens] of lengthsOf(offsets).entries()) {
    const steps = stepCounts[i]!;
    expectThat(steps === tokens || steps === tokens + 1, {
      requirement: `sequence ${i} must have ${tokens} steps, one per token, or one more`,
      value: steps,
    });
  }
  const lengths = { token: offsets, step: stepOffsets, sequence: [sequences.length] };
  for (const [name, axis] of Object.entries(COLUMN_AXES) as [ColumnName, Axis][]) {
    const length = lengths[axis].at(-1)!;
    const value = experience[name]?.length ?? length;
    expectThat(value === length, {
      requirement: `${name} must have ${length} elements, one per ${axis}`,
      value,
    });
  }
}

const numbers = z.array(z.number());

const savedExperienceSchema = z.strictObject({
  sequences: z.array(
    z.strictObject({
      promptIdx: z.int().min(0),
      sample: z.int().min(0),
      promptText: z.string(),
      promptTokens: numbers,
      text: z.string(),
      pieces: z.array(z.string()),
      observations: z
        .array(z.strictObject({ at: z.int().min(1), tokens: numbers, text: z.string() }))
        .optional(),
      finished: z.boolean(),
    }),
  ),
  offsets: numbers,
  stepOffsets: numbers,
  tokens: numbers,
  columns: z.record(z.string(), numbers),
});

/** An experience as JSON data. */
export type SavedExperience = z.output<typeof savedExperienceSchema>;

/** Converts an experience to JSON data. Float32 numbers survive JSON exactly. */
export function saveExperience(experience: Experience): SavedExperience {
  const { sequences, offsets, stepOffsets, tokens, ...columns } = experience;
  const saved = Object.entries(columns).map(([name, column]) => [name, Array.from(column)]);
  return {
    sequences: sequences.map(({ promptTokens, pieces, observations, ...sequence }) => ({
      ...sequence,
      ...(observations && {
        observations: observations.map(({ tokens: observed, ...rest }) => ({
          ...rest,
          tokens: Array.from(observed),
        })),
      }),
      promptTokens: Array.from(promptTokens),
      pieces: [...pieces],
    })),
    offsets: Array.from(offsets),
    stepOffsets: Array.from(stepOffsets),
    tokens: Array.from(tokens),
    columns: Object.fromEntries(saved),
  };
}

/** Reads what `saveExperience` returned; samples of one prompt share its tokens again. */
export function restoreExperience(saved: unknown): Experience {
  const { success, data, error } = savedExperienceSchema.safeParse(saved);
  if (!success) {
    throw new TypeError(
      `Cannot restore an experience: it must be as saveExperience() returns it, got ${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}`,
    );
  }
  const prompts = new Map<number, Int32Array>();
  const sequences = data.sequences.map(({ observations, ...sequence }) => {
    const promptTokens = prompts.get(sequence.promptIdx) ?? Int32Array.from(sequence.promptTokens);
    prompts.set(sequence.promptIdx, promptTokens);
    return {
      ...sequence,
      promptTokens,
      ...(observations && {
        observations: observations.map((one) => ({ ...one, tokens: Int32Array.from(one.tokens) })),
      }),
    };
  });
  const columns = Object.entries(data.columns).map(([name, column]) => [
    name,
    Float32Array.from(column),
  ]);
  const experience: Experience = {
    sequences,
    offsets: Int32Array.from(data.offsets),
    stepOffsets: Int32Array.from(data.stepOffsets),
    tokens: Int32Array.from(data.tokens),
    ...(Object.fromEntries(columns) as Omit<
      Experience,
      'sequences' | 'offsets' | 'stepOffsets' | 'tokens'
    >),
  };
  checkExperience(experience);
  return experience;
}

function checkOffsets(
  offsets: Int32Array,
  { name, sequences }: { name: string; sequences: number },
): void {
  expectThat(offsets.length === sequences + 1, {
    requirement: `${name} must have ${sequences + 1} elements for ${sequences} sequences`,
    value: offsets.length,
  });
  const invalid = offsets.findIndex((offset, i) =>
    i === 0 ? offset !== 0 : offset < offsets[i - 1]!,
  );
  expectThat(invalid < 0, {
    requirement: `${name} must start at 0 and never decrease`,
    value: `${offsets[invalid]} at ${invalid}`,
  });
}

function expectThat(
  isMet: boolean,
  { requirement, value }: { requirement: string; value: number | string },
): void {
  if (!isMet) throw new RangeError(`Cannot store an experience: ${requirement}, got ${value}`);
}

/** One sequence of an experience. */
interface SequenceRef {
  readonly experience: Experience;
  readonly sequence: number;
}

type RequiredFloatColumn = Exclude<ColumnName, 'tokens' | 'samplingLogprobs' | 'entropies'>;

function gather(refs: readonly SequenceRef[]): Experience {
  const column = (name: RequiredFloatColumn) =>
    concatFloats(refs.map((ref) => sliceOf(ref.experience[name], { ref, name })));
  return {
    sequences: refs.map(({ experience, sequence }) => experience.sequences[sequence]!),
    offsets: offsetsOf(refs.map((ref) => lengthOf(ref, 'token'))),
    stepOffsets: offsetsOf(refs.map((ref) => lengthOf(ref, 'step'))),
    tokens: concatInts(refs.map((ref) => sliceOf(ref.experience.tokens, { ref, name: 'tokens' }))),
    logprobs: column('logprobs'),
    refLogprobs: column('refLogprobs'),
    kl: column('kl'),
    advantages: column('advantages'),
    rewards: column('rewards'),
    values: column('values'),
    returns: column('returns'),
    scores: column('scores'),
    ...gatherSamplingLogprobs(refs),
    ...gatherEntropies(refs),
  };
}

/** An experience without sampling logprobs was sampled from the policy itself. */
function gatherSamplingLogprobs(refs: readonly SequenceRef[]) {
  if (refs.every(({ experience }) => experience.samplingLogprobs === undefined)) return {};
  const name = 'samplingLogprobs';
  return {
    [name]: concatFloats(
      refs.map((ref) => {
        const { samplingLogprobs, logprobs } = ref.experience;
        return sliceOf(samplingLogprobs ?? logprobs, { ref, name });
      }),
    ),
  };
}

function gatherEntropies(refs: readonly SequenceRef[]) {
  const entropies = refs.flatMap((ref) => {
    const column = ref.experience.entropies;
    return column === undefined ? [] : [sliceOf(column, { ref, name: 'entropies' })];
  });
  if (entropies.length === 0) return {};
  if (entropies.length < refs.length) {
    throw new RangeError(
      `Cannot join experiences: all sequences or none must have entropies, got ${entropies.length} of ${refs.length}; attribute all with the same recomputeLogprobs`,
    );
  }
  return { entropies: concatFloats(entropies) };
}

/** A view of one sequence's part of a column. */
function sliceOf<C extends Column>(
  column: C,
  { ref, name }: { ref: SequenceRef; name: ColumnName },
): C {
  return column.subarray(...rangeOf(ref, COLUMN_AXES[name])) as C;
}

function lengthOf(ref: SequenceRef, axis: Axis): number {
  const [start, end] = rangeOf(ref, axis);
  return end - start;
}

/** A sequence's range on an axis; `end` is exclusive. */
function rangeOf({ experience, sequence }: SequenceRef, axis: Axis): [start: number, end: number] {
  if (axis === 'sequence') return [sequence, sequence + 1];
  const offsets = axis === 'token' ? experience.offsets : experience.stepOffsets;
  return [offsets[sequence]!, offsets[sequence + 1]!];
}
