import { layerParts } from '../../src/models/decoder/layer-graph.ts';
import { PackedBatch } from '../../src/models/decoder/packed-batch.ts';
import type { BaseModel } from '../../src/models/index.ts';

export interface WorkShape {
  /** Prompt and response of each text. */
  readonly sequences: readonly Int32Array[];
  readonly responseTokens: number;
  /** Tokens of each prompt. */
  readonly prompts: readonly number[];
  /** Of one layer's adapters. */
  readonly loraParameters: number;
  readonly epochs: number;
  /** Whether log π_old takes a pass of its own, as after an int8 rollout. */
  readonly recomputes: boolean;
  /** Whether the update takes over the passes that came before it. */
  readonly keeps: boolean;
}

export interface NeededFlops {
  /** Log-probabilities of the reference, and of the policy where they are computed again. */
  readonly logprobs: number;
  readonly value: number;
  readonly reward: number;
  readonly update: number;
}

/**
 * The least products that the passes of a PPO update take: every distinct token once through the
 * frozen weights, forward 2·P·M and back to the inputs 2·P·M again; adapters L 2·L·M and 4·L·M;
 * attention over the tokens that may be seen, 4·heads·D each, twice that backward; the output head
 * on response tokens alone, there and back. No padding, no second computing, no token twice: the
 * policy's pass over prompts is the rollout's.
 */
export function neededFlops(
  { architecture }: BaseModel,
  { sequences, responseTokens, prompts, loraParameters, epochs, recomputes, keeps }: WorkShape,
): NeededFlops {
  const { config } = architecture;
  const { tokens, positions } = new PackedBatch(sequences, { share: true });
  const M = tokens.length;
  const P = [...layerParts(architecture).modules.values()].reduce((sum, [o, i]) => sum + o * i, 0);
  const layers = config.num_hidden_layers;
  const seen = positions.reduce((sum, place) => sum + place + 1, 0);
  const attention = (count: number) =>
    layers * 4 * config.num_attention_heads * config.head_dim * count;
  const plain = layers * 2 * P * M + attention(seen);
  const adapters = layers * 2 * loraParameters * M;
  const backward = layers * 2 * P * M + 2 * attention(seen) + 2 * adapters;
  const head = 2 * config.vocab_size * config.hidden_size * responseTokens;
  const forward = plain + adapters;
  const promptRows = prompts.reduce((sum, length) => sum + length, 0);
  const promptsSeen = prompts.reduce((sum, length) => sum + (length * (length + 1)) / 2, 0);
  const known = keeps ? layers * 2 * (P + loraParameters) * promptRows + attention(promptsSeen) : 0;
  const again = recomputes ? forward - known + 2 * head : 0;
  const taken = keeps ? forward + (recomputes ? forward + 2 * head : known) : 0;
  return {
    logprobs: plain + head + again,
    value: forward,
    reward: forward,
    update: epochs * (2 * (forward + backward) + 2 * head) - taken,
  };
}
