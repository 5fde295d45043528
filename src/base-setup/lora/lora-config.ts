import { defaultLoraFields, type LoraFields } from '../../config/lora-config.ts';

/** An adapter's shape, with PEFT's names. */
export interface LoraConfig {
  readonly r: number;
  readonly lora_alpha: number;
  /** Module names or the ends of them, such as q_proj; all linear modules if missing. */
  readonly target_modules?: readonly string[] | 'all-linear';
  /** Fraction of a module's inputs that the adapter drops in a training step; 0 if missing. */
  readonly lora_dropout?: number;
  /** Indices of the layers with an adapter; all layers if missing. */
  readonly layers_to_transform?: readonly number[];
  /** Scale by the square root of the rank (arXiv:2312.03732). */
  readonly use_rslora?: boolean;
}

/** The adapter that the fields of a config describe, for a base with this config. */
export function toLoraConfig(
  fields: LoraFields,
  { num_hidden_layers: layerCount }: { readonly num_hidden_layers: number },
): LoraConfig {
  const layers = adaptedLayers(fields.loraLayers, layerCount);
  return {
    ...onAllLayers(fields),
    ...(layers.length < layerCount && { layers_to_transform: layers }),
  };
}

function onAllLayers({ loraR, loraAlpha, loraDropout, loraTargets }: LoraFields): LoraConfig {
  return {
    r: loraR,
    lora_alpha: loraAlpha,
    lora_dropout: loraDropout,
    target_modules: loraTargets.includes('all-linear') ? 'all-linear' : loraTargets,
  };
}

/** The adapter of a config that says nothing about it: rank 16 on the projections of attention. */
export const defaultLoraConfig: LoraConfig = onAllLayers(defaultLoraFields);

/** The indices of the layers with an adapter.
 *  @example 2 of 6 layers  →  4, 5;  '1-3'  →  1, 2, 3 */
function adaptedLayers(loraLayers: LoraFields['loraLayers'], layerCount: number): number[] {
  const count = loraLayers === 'all' ? layerCount : Number(loraLayers);
  const [first, last] = Number.isNaN(count)
    ? (String(loraLayers).split('-').map(Number) as [number, number])
    : [layerCount - count, layerCount - 1];
  if (first < 0 || first > last || last >= layerCount) {
    throw new RangeError(
      `Cannot create an adapter: loraLayers and valueLoraLayers must be all, a number up to ${layerCount} or a range within 0-${layerCount - 1} for a model of ${layerCount} layers, got ${loraLayers}`,
    );
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Whether an adapter has weights for a module, as in PEFT: a target is the whole name or the end of
 *  it, and `layers_to_transform` selects by the first number in the name.
 *  @example layers_to_transform [1]: model.layers.1.self_attn.q_proj, but not model.layers.0.self_attn.q_proj */
export function isTarget(module: string, lora: LoraConfig | undefined): boolean {
  if (lora === undefined) return false;
  const { target_modules: targets = 'all-linear', layers_to_transform: layers } = lora;
  const isNamed =
    targets === 'all-linear' || targets.some((target) => matchesModule(target, module));
  return isNamed && (layers === undefined || layers.includes(layerOf(module) ?? -1));
}

/** The index of a module's layer, if its name has one.
 *  @example model.layers.3.self_attn.q_proj  →  3 */
export function layerOf(module: string): number | undefined {
  const index = module.match(/\.[^.]*\.(\d+)\./)?.[1];
  return index === undefined ? undefined : Number(index);
}

/** What an adapter adds to one layer, for graphs that know modules by their names within the layer;
 *  undefined if it adds nothing. */
export function loraOfLayer(lora: LoraConfig | undefined, layer: number): LoraConfig | undefined {
  if (lora === undefined) return undefined;
  const { layers_to_transform: layers, ...inLayer } = lora;
  return layers === undefined || layers.includes(layer) ? inLayer : undefined;
}

/** Index of the first layer with an adapter: the layers below it are those of the base. */
export function firstAdaptedLayer({ layers_to_transform: layers }: LoraConfig): number {
  return layers === undefined ? 0 : Math.min(...layers);
}

/** @example 'q_proj' matches 'self_attn.q_proj', but not 'fq_proj' */
export function matchesModule(target: string, module: string): boolean {
  return module === target || module.endsWith(`.${target}`);
}

/** What B·A is multiplied by: alpha / r, or alpha / √r if rank-stabilised.
 *  @example alpha=8, r=4  →  2, rank-stabilised 4 */
export function loraScaling({ r, lora_alpha, use_rslora = false }: LoraConfig): number {
  return lora_alpha / (use_rslora ? Math.sqrt(r) : r);
}
