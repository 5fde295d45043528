import type { Family } from './family.ts';
import { configureGated, describeGated, gatedLayer, llamaNames, rmsNormOf } from './gated-layer.ts';

/** Qwen2 and Qwen2.5: biases on q, k and v, always. */
export const qwen2: Family = {
  names: llamaNames,
  configure: (json) => ({ ...configureGated(json), attention_bias: false }),
  describe: (config) => describeGated(config, 'Qwen2ForCausalLM'),
  layer: (context, x) => gatedLayer(context, x, { qkvBias: true, qkNorm: false }),
  finalNorm: (context, x) => rmsNormOf(context, x, llamaNames.finalNorm),
};
