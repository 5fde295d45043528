import { tensor } from '../src/engine/runtime/index.ts';
import { BaseModel } from '../src/models/decoder/base-model.ts';
import { type Architecture, readArchitecture } from '../src/models/decoder/families/index.ts';
import { weightShapes } from '../src/models/decoder/weight-shapes.ts';

/** The fields of Qwen3-0.6B's config.json that set its shape. */
const config = {
  model_type: 'qwen3',
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  max_position_embeddings: 32_768,
  tie_word_embeddings: true,
};

export function qwen3Architecture(layers = config.num_hidden_layers): Architecture {
  return readArchitecture({ ...config, num_hidden_layers: layers });
}

/** A model of Qwen3-0.6B's shape with cheap pseudo-random weights: only its speed matters. */
export function qwen3Model(layers?: number): BaseModel {
  const architecture = qwen3Architecture(layers);
  let state = 1;
  const weights = [...weightShapes(architecture)].map(([name, shape]) => {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    for (let i = 0; i < data.length; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      data[i] = state * 1e-11;
    }
    return [name, tensor(data, shape)] as const;
  });
  return new BaseModel(architecture, new Map(weights));
}

export function parameterCount({ weights }: BaseModel): number {
  return [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
}
