import type { ModelConfig } from '../../config/model-config.ts';
import type { DecoderConfig, RopeConfig } from './decoder-config.ts';
import { type Architecture, describeArchitecture, readArchitecture } from './families/index.ts';

/** The architecture of a fresh model of this shape; what the shape leaves open is up to the family. */
export function freshArchitecture(config: ModelConfig): Architecture {
  const decoder: DecoderConfig = {
    model_type: config.modelType,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.numLayers,
    num_attention_heads: config.numAttentionHeads,
    num_key_value_heads: config.numKeyValueHeads,
    head_dim: config.headDim,
    norm_eps: config.layerNormEps,
    max_position_embeddings: config.maxPositionEmbeddings,
    tie_word_embeddings: config.tieWordEmbeddings,
    attention_bias: false,
    mlp_bias: false,
    rope: config.ropeTheta === undefined ? undefined : plainRope(config.ropeTheta),
  };
  return readArchitecture(describeArchitecture(decoder));
}

function plainRope(rope_theta: number): RopeConfig {
  return {
    rope_theta,
    rope_type: 'default',
    factor: 1,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  };
}

/** The fields of config.json by which transformers knows the dropout. */
export function dropoutFields({
  modelType,
  dropout,
}: ModelConfig): Readonly<Record<string, number>> {
  if (modelType !== 'gpt2') return { attention_dropout: dropout };
  return { embd_pdrop: dropout, attn_pdrop: dropout, resid_pdrop: dropout };
}
