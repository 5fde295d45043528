import { PackedBatch } from '../models/index.ts';
import type { Responses } from './responses.ts';

/** Prompts with their responses for one run; a prompt of several responses stands once. */
export function packSequences(responses: Responses): PackedBatch {
  return new PackedBatch(wholeSequences(responses), { share: true });
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
