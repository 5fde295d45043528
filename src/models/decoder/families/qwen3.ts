import type { Family } from './family.ts';
import { configureGated, describeGated, gatedLayer, llamaNames, rmsNormOf } from './gated-layer.ts';

/** Qwen3: query and key heads are normalised before the rotation. */
export const qwen3: Family = {
  names: llamaNames,
  configure: (json) => ({ ...configureGated(json), head_dim: json.size('head_dim', 128) }),
  describe: (config) => describeGated(config, 'Qwen3ForCausalLM'),
  layer: (context, x) =>
    gatedLayer(context, x, { qkvBias: context.config.attention_bias, qkNorm: true }),
  finalNorm: (context, x) => rmsNormOf(context, x, llamaNames.finalNorm),
};
