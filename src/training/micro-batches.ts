import type { Experience } from '../experience-buffer/experience.ts';
import { selectSequences } from '../experience-buffer/select-sequences.ts';
import { groupByTokens } from '../models/token-batch.ts';

/** Cuts an experience into parts that run together: a number of sequences, or as many as fit memory. */
export function* microBatches(
  experience: Experience,
  microBatchSize: number | undefined,
): Generator<Experience> {
  const { sequences, offsets } = experience;
  const lengths = sequences.map(({ promptTokens }, i) => ({
    length: promptTokens.length + offsets[i + 1]! - offsets[i]!,
  }));
  const groups =
    microBatchSize === undefined
      ? groupByTokens(lengths)
      : Array.from({ length: Math.ceil(sequences.length / microBatchSize) }, (_, k) => ({
          start: k * microBatchSize,
          end: Math.min((k + 1) * microBatchSize, sequences.length),
        }));
  for (const { start, end } of groups) {
    const indices = Array.from({ length: end - start }, (_, k) => start + k);
    yield selectSequences(experience, indices);
  }
}
