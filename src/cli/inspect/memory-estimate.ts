import { resolvePPOConfig } from '../../config/ppo-config.ts';
import type { SaveList } from '../../engine/graph/index.ts';
import { engineBytes, type RolloutPrecision } from '../../generation/decode-weights.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { loraConfigs, type ParameterCounts } from '../../models/decoder/parameter-counts.ts';
import { LOGITS_AT_ONCE } from '../../models/decoder/token-head.ts';
import { MemoryEstimator } from '../../ppo-trainer/memory-estimate.ts';
import { layerActivationBytes } from '../../training/activation-bytes.ts';

/** What one role adds to the shared base, in bytes. */
interface RoleMemory {
  /** Adapter and head. */
  readonly weights: number;
  readonly gradients: number;
  /** AdamW's two moments. */
  readonly optimizer: number;
  readonly total: number;
}

type RoleName = 'reference' | 'policy' | 'value' | 'reward';

/** Bytes in float32, by role and phase. */
export interface MemoryEstimate {
  /** One copy for all roles. */
  readonly base: number;
  readonly roles: Readonly<Record<RoleName, RoleMemory>>;
  /** Weights that generation holds beside the base. */
  readonly rolloutEngine: Readonly<Record<RolloutPrecision, number>>;
  readonly kvCache: { readonly perToken: number; readonly perSequence: number };
  /** Kept for the backward pass of `ppo.tokens` tokens. */
  readonly activations: Readonly<Record<SaveList, number>>;
  /** What one layer needs at once when it computes values again. */
  readonly layerAtWork: number;
  /** Logits of a part of the vocabulary and their gradient. */
  readonly logits: number;
  /** The whole, while texts are generated and while the models are trained on them. */
  readonly ppo: {
    readonly sequences: number;
    readonly sequenceLength: number;
    readonly tokens: number;
    readonly rollout: Readonly<Record<RolloutPrecision, number>>;
    readonly update: Readonly<Record<RolloutPrecision, number>>;
  };
}

/** The documents' batch of 4, with prompt and response of 256 tokens together. */
const batch = { batch: 4, length: 256 } as const;
const tokens = batch.batch * batch.length;

/** Estimates the memory of PPO with the documents' adapters. */
export function estimateMemory(
  architecture: Architecture,
  parameters: ParameterCounts,
): MemoryEstimate {
  const { config } = architecture;
  const layers = config.num_hidden_layers;
  const layerBytes = (save: SaveList) =>
    layerActivationBytes(architecture, { lora: loraConfigs.attention, save, tokens: batch });
  const perToken = 8 * layers * config.num_key_value_heads * config.head_dim;
  const layerAtWork = layerBytes('all');
  return {
    base: 4 * parameters.total,
    roles: estimateRoles(parameters.lora.attention, config.hidden_size),
    rolloutEngine: engineBytes(architecture),
    kvCache: { perToken, perSequence: batch.length * perToken },
    activations: {
      none: layers * layerBytes('none'),
      matmul: layers * layerBytes('matmul'),
      all: layers * layerAtWork,
    },
    layerAtWork,
    logits: 2 * 4 * Math.min(tokens * config.vocab_size, LOGITS_AT_ONCE),
    ppo: estimatePpo(architecture),
  };
}

/** The reward model is not trained in PPO, and the reference is the base itself. */
function estimateRoles(adapter: number, head: number): MemoryEstimate['roles'] {
  const role = (weights: number, isTrained: boolean): RoleMemory => {
    const gradients = isTrained ? 4 * weights : 0;
    const bytes = { weights: 4 * weights, gradients, optimizer: 2 * gradients };
    return { ...bytes, total: bytes.weights + bytes.gradients + bytes.optimizer };
  };
  return {
    reference: role(0, false),
    policy: role(adapter, true),
    value: role(adapter + head, true),
    reward: role(adapter + head, false),
  };
}

/** What a run of the documents' batch is foreseen to take, half of its tokens in prompts. */
function estimatePpo(architecture: Architecture): MemoryEstimate['ppo'] {
  const half = batch.length / 2;
  const config = resolvePPOConfig({ batchSize: batch.batch, maxNewTokens: half });
  const run = { config, promptLengths: [half], rewardModels: 1 };
  const estimator = new MemoryEstimator(architecture, run);
  const of = (phase: 'rollout' | 'update') => {
    const bytes = (rolloutPrecision: RolloutPrecision) =>
      estimator.estimate({ ...config, rolloutPrecision })[phase];
    return { f32: bytes('f32'), 'f32-feeds': bytes('f32-feeds'), int8: bytes('int8') };
  };
  const { batch: sequences, length: sequenceLength } = batch;
  return { sequences, sequenceLength, tokens, rollout: of('rollout'), update: of('update') };
}
