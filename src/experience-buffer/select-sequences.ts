import { concatFloats, concatInts, offsetsOf } from '../columns/index.ts';
import type { Experience } from './experience.ts';
import { type Axis, COLUMN_AXES, type ColumnName, rangeOf } from './experience-columns.ts';

/** An experience of some sequences in the order given, perhaps more than once; columns are copied.
 *  @example sequences of 2, 1 and 3 tokens, indices [2, 0]  →  offsets [0, 3, 5] */
export function selectSequences(experience: Experience, indices: readonly number[]): Experience {
  const { length } = experience.sequences;
  const wrong = indices.find((i) => !Number.isInteger(i) || i < 0 || i >= length);
  if (wrong !== undefined) {
    throw new RangeError(
      `Cannot select sequences: indices must be whole numbers below ${length}, got ${wrong}`,
    );
  }
  return gather(indices.map((sequence) => ({ from: experience, sequence })));
}

/** The sequences of several experiences in one, in order; columns are copied. */
export function concatExperiences(experiences: readonly Experience[]): Experience {
  return gather(
    experiences.flatMap((from) => from.sequences.map((_, sequence) => ({ from, sequence }))),
  );
}

interface Source {
  readonly from: Experience;
  readonly sequence: number;
}

type FloatColumn = Exclude<ColumnName, 'tokens' | 'samplingLogprobs' | 'entropies'>;

function gather(sources: readonly Source[]): Experience {
  const column = (name: FloatColumn) =>
    concatFloats(sources.map((source) => cut(source.from[name], { source, name })));
  return {
    sequences: sources.map(({ from, sequence }) => from.sequences[sequence]!),
    offsets: offsetsOf(sources.map((source) => lengthOf(source, 'token'))),
    stepOffsets: offsetsOf(sources.map((source) => lengthOf(source, 'step'))),
    tokens: concatInts(
      sources.map((source) => cut(source.from.tokens, { source, name: 'tokens' })),
    ),
    logprobs: column('logprobs'),
    refLogprobs: column('refLogprobs'),
    kl: column('kl'),
    advantages: column('advantages'),
    rewards: column('rewards'),
    values: column('values'),
    returns: column('returns'),
    scores: column('scores'),
    ...gatherSamplingLogprobs(sources),
    ...gatherEntropies(sources),
  };
}

/** Where they are not kept they are the policy's own. */
function gatherSamplingLogprobs(sources: readonly Source[]) {
  if (sources.every(({ from }) => from.samplingLogprobs === undefined)) return {};
  const name = 'samplingLogprobs';
  return {
    [name]: concatFloats(
      sources.map((source) =>
        cut(source.from.samplingLogprobs ?? source.from.logprobs, { source, name }),
      ),
    ),
  };
}

function gatherEntropies(sources: readonly Source[]) {
  const entropies = sources.flatMap((source) => {
    const column = source.from.entropies;
    return column === undefined ? [] : [cut(column, { source, name: 'entropies' })];
  });
  if (entropies.length === 0) return {};
  if (entropies.length < sources.length) {
    throw new RangeError(
      `Cannot join experiences: all sequences or none must have entropies, got ${entropies.length} of ${sources.length}; attribute all with the same recomputeLogprobs`,
    );
  }
  return { entropies: concatFloats(entropies) };
}

/** The part of a column that a sequence has. */
function cut<T extends Float32Array | Int32Array>(
  column: T,
  { source, name }: { source: Source; name: ColumnName },
): T {
  const [start, end] = rangeOf(source.from, {
    axis: COLUMN_AXES[name],
    sequence: source.sequence,
  });
  return column.subarray(start, end) as T;
}

function lengthOf({ from, sequence }: Source, axis: Axis): number {
  const [start, end] = rangeOf(from, { axis, sequence });
  return end - start;
}
