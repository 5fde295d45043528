import { layerParts } from '../../src/models/decoder/layer-graph.ts';
import { PackedBatch } from '../../src/models/decoder/packed-batch.ts';
import type { BaseModel } from '../../src/models/index.ts';

export interface WorkShape {
  /** Prompt and response tokens per text. */
  readonly sequences: readonly Int32Array[];
  readonly responseTokens: number;
  /** Tokens per prompt. */
  readonly prompts: readonly number[];
  /** Parameters of one layer's adapters. */
  readonly loraParameters: number;
  readonly epochs: number;
  /** Whether log π_old needs its own forward pass, as after an int8 rollout. */
  readonly recomputes: boolean;
  /** Whether the update reuses earlier forward passes. */
  readonly reusesPasses: boolean;
}

export interface NeededFlops {
  /** Log-probabilities of the reference, and of the policy if they are recomputed. */
  readonly logprobs: number;
  readonly value: number;
  readonly reward: number;
  readonly update: number;
}

/**
 * The minimum FLOPs of the passes of a PPO update. Every distinct token goes through the frozen
 * weights once: 2·P·M forward and 2·P·M backward to the inputs; adapters add 2·L·M and 4·L·M;
 * attention takes 4·heads·D per visible token, twice that backward; the output head runs on response
 * tokens only, forward and backward. No padding and no recomputation; the policy's forward pass over
 * prompts is the rollout's.
 */
export function neededFlops(
  { architecture }: BaseModel,
  {
    sequences,
    responseTokens,
    prompts,
    loraParameters,
    epochs,
    recomputes,
    reusesPasses,
  }: WorkShape,
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
  const known = reusesPasses
    ? layers * 2 * (P + loraParameters) * promptRows + attention(promptsSeen)
    : 0;
  const again = recomputes ? forward - known + 2 * head : 0;
  const taken = reusesPasses ? forward + (recomputes ? forward + 2 * head : known) : 0;
  return {
    logprobs: plain + head + again,
    value: forward,
    reward: forward,
    update: epochs * (2 * (forward + backward) + 2 * head) - taken,
  };
}
