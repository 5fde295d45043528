import { tensor } from '../src/engine/runtime/index.ts';
import type { BasePrecision } from '../src/models/decoder/base-model.ts';
import { BaseModel } from '../src/models/decoder/base-model.ts';
import { type Architecture, readArchitecture } from '../src/models/decoder/families/index.ts';
import { byName, type NamedWeight } from '../src/models/decoder/fingerprint-weights.ts';
import { quantizeBase } from '../src/models/decoder/quantize-base.ts';
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

/** What the larger models change. */
const sizes = {
  '0.6B': {},
  '1.7B': { hidden_size: 2048, intermediate_size: 6144 },
  '4B': {
    hidden_size: 2560,
    intermediate_size: 9728,
    num_hidden_layers: 36,
    num_attention_heads: 32,
  },
} as const;

export type Qwen3Size = keyof typeof sizes;
export const QWEN3_SIZES = Object.keys(sizes) as Qwen3Size[];

export interface Qwen3Options {
  readonly size?: Qwen3Size | undefined;
  /** The model's own number by default. */
  readonly layers?: number | undefined;
}

export function qwen3Architecture({ size = '0.6B', layers }: Qwen3Options = {}): Architecture {
  const fields = { ...config, ...sizes[size] };
  return readArchitecture({ ...fields, num_hidden_layers: layers ?? fields.num_hidden_layers });
}

/** A model of Qwen3's shape with cheap pseudo-random weights: only its speed matters. */
export async function qwen3Model({
  precision = 'f32',
  ...shape
}: Qwen3Options & { readonly precision?: BasePrecision | undefined } = {}): Promise<BaseModel> {
  const architecture = qwen3Architecture(shape);
  if (precision === 'int8') return quantizeBase(architecture, randomWeights(architecture));
  return new BaseModel(architecture, new Map(randomWeights(architecture)));
}

/** Weights one by one, so that quantizing needs one of them at a time. */
function* randomWeights(architecture: Architecture): Generator<NamedWeight> {
  let state = 1;
  for (const [name, shape] of [...weightShapes(architecture)].sort(byName)) {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    for (let i = 0; i < data.length; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      data[i] = state * 1e-11;
    }
    yield [name, tensor(data, shape)];
  }
}

export function parameterCount({ weights }: BaseModel): number {
  return [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
}
