import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { caseFolder, recordCase } from '../../../test/helpers/oracle-case.ts';
import { computeLogits, openModel } from '../../../test/helpers/peft-golden.ts';
import { tensor } from '../../engine/runtime/index.ts';
import { BaseModel } from './base-model.ts';
import { createModel } from './create-model.ts';
import { readArchitecture } from './families/index.ts';
import { saveModel } from './save-model.ts';

const sequences = [[7, 1, 40, 3, 3, 9], [12], [0, 63]];
const readJson = (folder: string, name: string) =>
  JSON.parse(readFileSync(join(folder, name), 'utf8'));

const gated = {
  vocab_size: 64,
  hidden_size: 24,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  rms_norm_eps: 1e-5,
  max_position_embeddings: 99,
  tie_word_embeddings: false,
  attention_bias: false,
  mlp_bias: false,
};
const llama3 = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 16,
};
const configs = {
  qwen3: { ...gated, model_type: 'qwen3', rope_theta: 1e6, tie_word_embeddings: true },
  qwen2: { ...gated, model_type: 'qwen2' },
  llama: { ...gated, model_type: 'llama', attention_bias: true, mlp_bias: true },
  'llama-linear': {
    ...gated,
    model_type: 'llama',
    rope_scaling: { rope_type: 'linear', factor: 3 },
  },
  'llama-llama3': { ...gated, model_type: 'llama', rope_scaling: llama3 },
  gpt2: { model_type: 'gpt2', vocab_size: 64, n_embd: 24, n_layer: 2, n_head: 4, n_positions: 33 },
} as const;

/** A fresh model whose weights are large enough for every part of its config to matter. */
function createLargeModel(config: (typeof configs)[keyof typeof configs]): BaseModel {
  const { architecture, weights } = createModel(readArchitecture(config), 5);
  const scaled = [...weights].map(([name, { data, shape }]) => {
    const factor = shape.length > 1 ? 10 : 1;
    return [
      name,
      tensor(
        data.map((x) => factor * x),
        shape,
      ),
    ] as const;
  });
  return new BaseModel(architecture, new Map(scaled));
}

describe('A fresh model', () => {
  it.each(Object.entries(configs))('of %s is read back unchanged', async (name, config) => {
    const base = createLargeModel(config);
    const folder = caseFolder(`${name}-fresh`);
    await saveModel(folder, base, { config: { eos_token_id: 3 } });
    const read = await openModel(folder);
    expect(read.architecture.config).toEqual(base.architecture.config);
    expect(read.weights).toEqual(base.weights);
    await recordCase(folder, { sequences, logits: await computeLogits(read, sequences) });
  });

  it('has a complete config.json', async () => {
    const folder = caseFolder('qwen3-config');
    const base = createLargeModel(configs.qwen3);
    await saveModel(folder, base, { dtype: 'BF16', config: { eos_token_id: [3, 4] } });
    expect(readJson(folder, 'config.json')).toEqual({
      ...configs.qwen3,
      architectures: ['Qwen3ForCausalLM'],
      hidden_act: 'silu',
      rope_scaling: null,
      bos_token_id: null,
      eos_token_id: [3, 4],
      pad_token_id: null,
      torch_dtype: 'bfloat16',
    });
    expect(readJson(folder, 'generation_config.json')).toEqual({
      _from_model_config: true,
      eos_token_id: [3, 4],
    });
    await recordCase(folder, {
      sequences,
      logits: await computeLogits(await openModel(folder), sequences),
    });
  });
});
