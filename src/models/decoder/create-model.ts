import type { ModelConfig } from '../../config/model-config.ts';
import { randomStream } from '../../engine/random/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { BaseModel } from './base-model.ts';
import type { DecoderConfig, RopeConfig } from './decoder-config.ts';
import { type Architecture, describeArchitecture, readArchitecture } from './families/index.ts';
import { weightShapes } from './weight-shapes.ts';

/** Standard deviation of fresh weights: Hugging Face's `initializer_range`. */
const INITIALIZER_RANGE = 0.02;

/** A model with fresh random weights: matrices N(0, 0.02²), norms 1, biases 0. */
export function createModel(architecture: Architecture, seed = 0): BaseModel {
  const weights = new Map<string, Tensor<'float32'>>();
  for (const [name, shape] of weightShapes(architecture)) {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    if (shape.length > 1) fillNormal(data, randomStream(seed, 'weights', name));
    else if (name.endsWith('.weight')) data.fill(1);
    weights.set(name, tensor(data, shape));
  }
  return new BaseModel(architecture, weights);
}

function fillNormal(data: Float32Array, random: { normal(): number }): void {
  for (let i = 0; i < data.length; i++) data[i] = INITIALIZER_RANGE * random.normal();
}

/** The architecture of a fresh model of this shape; the family sets everything else. */
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
    embd_pdrop: config.dropout,
    resid_pdrop: config.dropout,
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

/** The field of config.json for dropout of attention probabilities, which only transformers applies;
 *  the architecture has the other dropout fields. */
export function attentionDropoutField({
  modelType,
  dropout,
}: ModelConfig): Readonly<Record<string, number>> {
  return { [modelType === 'gpt2' ? 'attn_pdrop' : 'attention_dropout']: dropout };
}
