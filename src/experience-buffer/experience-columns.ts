import type { Experience } from './experience.ts';

/** What a column has one number for. */
export type Axis = 'token' | 'step' | 'sequence';

export type ColumnName = Exclude<keyof Experience, 'sequences' | 'offsets' | 'stepOffsets'>;

/** The axis of every column of an experience. */
export const COLUMN_AXES = {
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

/** Where a sequence stands on an axis: from start to before end. */
export function rangeOf(
  { offsets, stepOffsets }: Experience,
  { axis, sequence }: { axis: Axis; sequence: number },
): [start: number, end: number] {
  if (axis === 'sequence') return [sequence, sequence + 1];
  const starts = axis === 'token' ? offsets : stepOffsets;
  return [starts[sequence]!, starts[sequence + 1]!];
}

/** Bytes of all columns and offsets, and of the prompts' tokens, which samples of one prompt share.
 *  Texts are not counted.
 *  @example one sequence, prompt of 3 tokens, response of 2: 3 + 2·2 offsets + 5·2 of tokens +
 *  3·2 of steps + 1 score = 24 numbers  →  96 */
export function byteLengthOf(experience: Experience): number {
  const columns = Object.values(experience).filter((column) => ArrayBuffer.isView(column));
  const prompts = new Set(experience.sequences.map(({ promptTokens }) => promptTokens));
  return [...columns, ...prompts].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Refuses an experience whose columns do not fit each other. */
export function checkExperience(experience: Experience): void {
  const { sequences, offsets, stepOffsets } = experience;
  expectOffsets(offsets, { name: 'offsets', sequences: sequences.length });
  expectOffsets(stepOffsets, { name: 'stepOffsets', sequences: sequences.length });
  for (let i = 0; i < sequences.length; i++) {
    const tokens = offsets[i + 1]! - offsets[i]!;
    const steps = stepOffsets[i + 1]! - stepOffsets[i]!;
    expectThat(steps === tokens || steps === tokens + 1, {
      requirement: `sequence ${i} must have ${tokens} steps, one for each token, or one more`,
      value: steps,
    });
  }
  const lengths = { token: offsets, step: stepOffsets, sequence: [sequences.length] };
  for (const [name, axis] of Object.entries(COLUMN_AXES) as [ColumnName, Axis][]) {
    const length = lengths[axis].at(-1)!;
    const value = experience[name]?.length ?? length;
    expectThat(value === length, {
      requirement: `${name} must have ${length} elements, one for each ${axis}`,
      value,
    });
  }
}

function expectOffsets(
  offsets: Int32Array,
  { name, sequences }: { name: string; sequences: number },
): void {
  expectThat(offsets.length === sequences + 1, {
    requirement: `${name} must have ${sequences + 1} elements for ${sequences} sequences`,
    value: offsets.length,
  });
  const wrong = offsets.findIndex((offset, i) =>
    i === 0 ? offset !== 0 : offset < offsets[i - 1]!,
  );
  expectThat(wrong < 0, {
    requirement: `${name} must start at 0 and never fall`,
    value: `${offsets[wrong]} at ${wrong}`,
  });
}

function expectThat(
  holds: boolean,
  { requirement, value }: { requirement: string; value: number | string },
): void {
  if (!holds) throw new RangeError(`Cannot store an experience: ${requirement}, got ${value}`);
}
