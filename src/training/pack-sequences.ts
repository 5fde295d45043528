import type { RowLayout } from '../models/decoder/share-rows.ts';
import { PackedBatch } from '../models/index.ts';
import type { Responses } from './responses.ts';

/** Prompts with their responses for one run; a prompt of several responses stands once. */
export function packSequences(responses: Responses): PackedBatch {
  return new PackedBatch(wholeSequences(responses), { layout: promptsFirst(responses) });
}

/** The prompts of some responses, each once, as their rows stand in a packed batch. */
export function distinctPrompts({ sequences }: Pick<Responses, 'sequences'>): Int32Array[] {
  const prompts = new Map(sequences.map((one) => [one.promptIdx, one.promptTokens]));
  return [...prompts.values()];
}

/**
 * Rows of each prompt once, then those of all responses.
 * @example prompts of 2 and 1 tokens, two responses of 1 to the first, one of 2 to the second  →
 * [0, 1, 3], [0, 1, 4], [2, 5, 6]
 */
function promptsFirst({ sequences, offsets }: Responses): RowLayout {
  const firstRows = new Map<number, number>();
  let count = 0;
  for (const { promptIdx, promptTokens } of sequences) {
    if (firstRows.has(promptIdx)) continue;
    firstRows.set(promptIdx, count);
    count += promptTokens.length;
  }
  const rows = sequences.map(({ promptIdx, promptTokens: { length } }, i) => {
    const prompt = firstRows.get(promptIdx)!;
    const response = count - length;
    const own = offsets[i + 1]! - offsets[i]!;
    count += own;
    return Int32Array.from({ length: length + own }, (_, t) =>
      t < length ? prompt + t : response + t,
    );
  });
  return { rows, count };
}

/** Prompt and response tokens of each sequence, one after the other. */
function wholeSequences({ sequences, offsets, tokens }: Responses): Int32Array[] {
  return sequences.map(({ promptTokens }, i) => {
    const response = tokens.subarray(offsets[i]!, offsets[i + 1]!);
    const whole = new Int32Array(promptTokens.length + response.length);
    whole.set(promptTokens);
    whole.set(response, promptTokens.length);
    return whole;
  });
}
