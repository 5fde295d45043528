import type { Shape, Value } from '../../engine/graph/index.ts';
import type { DecoderConfig } from './decoder-config.ts';

export interface LinearOptions {
  readonly out: number;
  readonly bias?: boolean;
  /** GPT-2 stores its weights as [in, out]. */
  readonly transposed?: boolean;
}

/** Query, key and value heads of packed tokens, [M, heads, D]. */
export interface HeadValues {
  readonly q: Value;
  readonly k: Value;
  readonly v: Value;
}

/** Sizes and frozen weights, by their Hugging Face names. */
export interface WeightContext {
  readonly config: DecoderConfig;
  weight(name: string, shape: Shape): Value;
}

/**
 * Operations that a family builds a layer from. Training, prefill and decoding implement them differently:
 * weights may be inputs, constants or quantized, attention may be over a padded batch or a cache.
 */
export interface LayerContext extends WeightContext {
  /** y = x·Wᵀ + b of a module, with its adapter if it has one. */
  linear(x: Value, module: string, options: LinearOptions): Value;
  /** Rotates heads [M, heads, D] by their positions. */
  rope(heads: Value): Value;
  /** Causal attention: [M, heads·D]. */
  attend(heads: HeadValues): Value;
  /** x + y for the output y of the attention or MLP sublayer, of which training may drop some numbers. */
  addSublayer(x: Value, y: Value, sublayer: string): Value;
}
