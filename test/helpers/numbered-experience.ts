import * as fc from 'fast-check';
import type { Experience } from '../../src/experience-buffer/index.ts';

export interface SequenceShape {
  readonly prompt: number;
  readonly tokens: number;
  /** Whether there is a step after the last token. */
  readonly after?: boolean;
}

interface NumberedOptions {
  /** The first number; the others follow it. */
  readonly first?: number;
  readonly samplingLogprobs?: boolean;
  readonly entropies?: boolean;
}

/** An experience of these shapes in which all numbers differ. */
export function numberedExperience(
  shapes: readonly SequenceShape[],
  { first = 0, samplingLogprobs = false, entropies = false }: NumberedOptions = {},
): Experience {
  let next = first;
  const floats = (length: number) => Float32Array.from({ length }, () => next++);
  const ints = (length: number) => Int32Array.from({ length }, () => next++);
  const starts = (lengths: number[]) =>
    Int32Array.from([0, ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b))]);
  const offsets = starts(shapes.map(({ tokens }) => tokens));
  const stepOffsets = starts(shapes.map(({ tokens, after }) => tokens + (after ? 1 : 0)));
  const [tokens, steps] = [offsets.at(-1)!, stepOffsets.at(-1)!];
  return {
    sequences: shapes.map((shape, i) => ({
      promptIdx: i,
      sample: 0,
      promptText: `prompt ${next}`,
      promptTokens: ints(shape.prompt),
      text: `text ${next}`,
      pieces: Array.from({ length: shape.tokens }, () => ` ${next++}`),
      finished: i % 2 === 0,
    })),
    offsets,
    stepOffsets,
    tokens: ints(tokens),
    logprobs: floats(tokens),
    refLogprobs: floats(tokens),
    kl: floats(tokens),
    advantages: floats(tokens),
    scores: floats(shapes.length),
    rewards: floats(steps),
    values: floats(steps),
    returns: floats(steps),
    ...(samplingLogprobs && { samplingLogprobs: floats(tokens) }),
    ...(entropies && { entropies: floats(tokens) }),
  };
}

/** Everything that an experience stores about one sequence. */
export function sequenceRecord(experience: Experience, i: number) {
  const tokens = (column: Float32Array | Int32Array) =>
    Array.from(column).slice(experience.offsets[i], experience.offsets[i + 1]);
  const steps = (column: Float32Array) =>
    Array.from(column).slice(experience.stepOffsets[i], experience.stepOffsets[i + 1]);
  return {
    sequence: experience.sequences[i],
    tokens: tokens(experience.tokens),
    logprobs: tokens(experience.logprobs),
    refLogprobs: tokens(experience.refLogprobs),
    kl: tokens(experience.kl),
    samplingLogprobs: experience.samplingLogprobs && tokens(experience.samplingLogprobs),
    entropies: experience.entropies && tokens(experience.entropies),
    advantages: tokens(experience.advantages),
    rewards: steps(experience.rewards),
    values: steps(experience.values),
    returns: steps(experience.returns),
    score: experience.scores[i],
  };
}

export const sequenceRecords = (experience: Experience) =>
  experience.sequences.map((_, i) => sequenceRecord(experience, i));

/** Ragged shapes, with and without a step after the last token, possibly without any response. */
export const sequenceShapes = (minLength = 0) =>
  fc.array(
    fc.record({
      prompt: fc.integer({ min: 1, max: 4 }),
      tokens: fc.nat(5),
      after: fc.boolean(),
    }),
    { minLength, maxLength: 9 },
  );

/** Experiences of such shapes, with and without the optional columns. */
export const experiences = (minLength = 0) =>
  fc
    .record({
      shapes: sequenceShapes(minLength),
      samplingLogprobs: fc.boolean(),
      entropies: fc.boolean(),
    })
    .map(({ shapes, ...options }) => numberedExperience(shapes, options));
