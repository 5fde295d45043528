import type { Family } from './family.ts';
import { configureGated, describeGated, gatedLayer, llamaNames, rmsNormOf } from './gated-layer.ts';

/** Llama 2 and 3, SmolLM2, TinyLlama. */
export const llama: Family = {
  names: llamaNames,
  configure: configureGated,
  describe: (config) => describeGated(config, 'LlamaForCausalLM'),
  layer: (context, x) =>
    gatedLayer(context, x, { qkvBias: context.config.attention_bias, qkNorm: false }),
  finalNorm: (context, x) => rmsNormOf(context, x, llamaNames.finalNorm),
};
