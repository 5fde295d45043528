import type { headModules } from '../../../base-setup/lora/peft-config.ts';
import type { Value } from '../../../engine/graph/index.ts';
import type { ConfigReader, DecoderConfig } from '../decoder-config.ts';
import type { LayerContext, WeightContext } from '../layer-context.ts';

/** Hugging Face names of the weights outside the layers. */
export interface FamilyNames {
  readonly embedding: string;
  /** Learned positions, if the family has them. */
  readonly positions?: string;
  readonly layer: (index: number) => string;
  readonly finalNorm: string;
  /** The output head of models that do not tie it to the embedding. */
  readonly head: string;
  /** The module that transformers' token classifiers of the family have as their head. */
  readonly tokenClassifier: (typeof headModules)[number];
}

/** A family of decoders: how its config is read, how its weights are named, what a layer computes. */
export interface Family {
  readonly names: FamilyNames;
  configure(json: ConfigReader): DecoderConfig;
  /** The inverse of `configure`: a config.json that `configure` and transformers read as this config. */
  describe(config: DecoderConfig): Readonly<Record<string, unknown>>;
  /** One decoder layer over packed tokens [M, hidden]. */
  layer(context: LayerContext, x: Value): Value;
  /** The norm before the head; its weights are named by `names.finalNorm`. */
  finalNorm(context: WeightContext, x: Value): Value;
}
