import { toLoraConfig } from '../../base-setup/lora/lora-config.ts';
import type { StageConfig } from '../../config/stage-config.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { LOGITS_AT_ONCE } from '../../models/decoder/token-head.ts';
import { layerActivationBytes } from '../../training/activation-bytes.ts';
import { TRAINED_LOGITS_AT_ONCE } from '../../training/language-pass.ts';

interface StageMemoryOptions {
  readonly config: StageConfig;
  /** Of the base. */
  readonly parameters: number;
  readonly trainable: number;
  /** Whether the base itself is trained. */
  readonly isFull: boolean;
  /** Tokens of the longest text or pair. */
  readonly longest: number;
  readonly hasLogits: boolean;
}

/** Bytes that a stage holds, in float32: the base, what is trained with gradients and two moments,
 *  and the activations of what runs together. */
export function stageMemory(architecture: Architecture, options: StageMemoryOptions): number {
  const { config, parameters, trainable, isFull, longest, hasLogits } = options;
  const { num_hidden_layers: layers, vocab_size } = architecture.config;
  const resident = 4 * (isFull ? 0 : parameters) + 4 * 4 * trainable;
  const fitting = Math.max(1, Math.floor(config.maxTokensAtOnce / longest));
  const batch = Math.min(fitting, config.batchSize);
  const keep = (save: StageConfig['saveActivations']) =>
    layerActivationBytes(architecture, {
      lora: toLoraConfig(config),
      save,
      tokens: { batch, length: longest },
    });
  const atOnce = isFull ? TRAINED_LOGITS_AT_ONCE : LOGITS_AT_ONCE;
  const logits = hasLogits ? 2 * 4 * Math.min(batch * longest * vocab_size, atOnce) : 0;
  return resident + layers * keep(config.saveActivations) + keep('all') + logits;
}
