import { loraOf } from '../../base-setup/lora/lora-of-config.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { LOGITS_AT_ONCE } from '../../models/decoder/base-model.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { layerActivationBytes } from '../inspect/activation-bytes.ts';
import { engineBytes } from '../inspect/engine-bytes.ts';

/** Bytes that a run holds, in float32. */
export interface PlannedMemory {
  readonly rollout: number;
  readonly update: number;
}

export interface MemoryOptions {
  readonly config: RunConfig;
  /** Of the base. */
  readonly parameters: number;
  /** Of policy and value model together. */
  readonly trainable: number;
  /** Tokens of the longest prompt and response. */
  readonly length: number;
}

/** Tokens that run together if the config does not say. */
const TOKENS_AT_ONCE = 1024;

/** The base once, adapters with gradients and two moments, the decoder's weights; then the cache of
 *  keys and values while generating, activations of a micro-batch while training. */
export function planMemory(architecture: Architecture, options: MemoryOptions): PlannedMemory {
  const { config, parameters, trainable, length } = options;
  const { num_hidden_layers: layers, vocab_size, ...shape } = architecture.config;
  const responses = config.batchSize * config.samplesPerPrompt;
  const resident =
    4 * parameters + 4 * 4 * trainable + engineBytes(architecture)[config.rolloutPrecision];
  const perToken = 8 * layers * shape.num_key_value_heads * shape.head_dim;
  const atOnce = Math.min(config.rolloutBatchSize, responses);
  const fitting = Math.max(1, Math.floor(TOKENS_AT_ONCE / length));
  const batch = Math.min(config.microBatchSize ?? fitting, config.miniBatchSize ?? responses);
  const tokens = { batch, length };
  const lora = loraOf(config);
  const keep = (save: 'none' | 'matmul' | 'all') =>
    layerActivationBytes(architecture, { lora, save, tokens });
  const logits = 2 * 4 * Math.min(batch * length * vocab_size, LOGITS_AT_ONCE);
  return {
    rollout: resident + atOnce * length * perToken,
    update: resident + layers * keep(config.saveActivations) + keep('all') + logits,
  };
}
