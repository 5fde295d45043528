import { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { layerParts } from '../../models/decoder/layer-graph.ts';
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
/** The base computes the logits of at most this many tokens × vocabulary at once. */
const LOGITS_AT_ONCE = 2 ** 24;

/** The config's adapter, as PEFT describes it. */
export function plannedLora(config: RunConfig): LoraConfig {
  const { loraR, loraAlpha, loraTargets } = config;
  return {
    r: loraR,
    lora_alpha: loraAlpha,
    target_modules: loraTargets.includes('all-linear') ? 'all-linear' : loraTargets,
  };
}

/** Parameters of one adapter: r · (in + out) of each target, in every layer. */
export function countAdapter(architecture: Architecture, lora: LoraConfig): number {
  const { weights } = LoraAdapter.create(lora, layerParts(architecture).modules);
  const perLayer = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  return architecture.config.num_hidden_layers * perLayer;
}

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
  const lora = plannedLora(config);
  const keep = (save: 'none' | 'matmul' | 'all') =>
    layerActivationBytes(architecture, { lora, save, tokens });
  const logits = 2 * 4 * Math.min(batch * length * vocab_size, LOGITS_AT_ONCE);
  return {
    rollout: resident + atOnce * length * perToken,
    update: resident + layers * keep(config.saveActivations) + keep('all') + logits,
  };
}
