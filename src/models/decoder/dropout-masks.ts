import { isTarget, loraOfLayer } from '../../base-setup/lora/lora-config.ts';
import type { RandomStream } from '../../engine/random/index.ts';
import { type Feeds, type Tensor, tensor } from '../../engine/runtime/index.ts';
import type { LayerRole } from './base-model.ts';
import { layerParts, layerPrefix } from './layer-graph.ts';
import { dropoutName } from './module-context.ts';
import { concatRows } from './rows.ts';

/** The number of tokens that masks are for, and the source of their random numbers. */
interface MaskOptions {
  readonly rows: number;
  readonly random: RandomStream;
}

/** The fraction that a training pass drops in the layers: inputs of the adapter or, without one,
 *  outputs of attention and MLP. */
export function layerDropout({ base, adapter }: LayerRole): number {
  return adapter?.config.lora_dropout ?? base.architecture.config.resid_pdrop;
}

/** The masks of some consecutive layers, by the names of their feeds. */
export function layerMasks(
  role: LayerRole,
  { first, count, ...options }: MaskOptions & { readonly first: number; readonly count: number },
): Feeds {
  const p = layerDropout(role);
  const masks: Record<string, Tensor> = {};
  for (let i = 0; i < count; i++) {
    for (const [name, width] of maskedWidths(role, first + i)) {
      masks[dropoutName(`${layerPrefix(i, count)}${name}`)] = sampleMask(p, { width, ...options });
    }
  }
  return masks;
}

const embeddingMaskName = dropoutName('embeddings');

/** The mask of the embeddings, if some are dropped: only if they are trained too. */
export function embeddingMask(
  { base, adapter }: LayerRole,
  { rows, random }: Pick<MaskOptions, 'rows'> & { readonly random: RandomStream | undefined },
): Feeds {
  const { embd_pdrop: p, hidden_size: width } = base.architecture.config;
  if (random === undefined || adapter !== undefined || p === 0) return {};
  return { [embeddingMaskName]: sampleMask(p, { width, rows, random }) };
}

/** The mask of the embeddings of consecutive parts of a batch; undefined if none are dropped. */
export function joinEmbeddingMasks(parts: readonly Feeds[]): Tensor<'float32'> | undefined {
  const masks = parts.flatMap((part) => part[embeddingMaskName] ?? []);
  return masks.length === 0 ? undefined : concatRows(masks as Tensor<'float32'>[]);
}

/** What is dropped in a layer, and how wide it is. */
function maskedWidths({ base, adapter }: LayerRole, layer: number): (readonly [string, number])[] {
  const { modules, sublayers } = layerParts(base.architecture);
  if (adapter === undefined) {
    return [...sublayers].map((name) => [name, base.architecture.config.hidden_size]);
  }
  const lora = loraOfLayer(adapter.config, layer);
  return [...modules]
    .filter(([module]) => isTarget(module, lora))
    .map(([module, [, width]]) => [module, width]);
}

/** A mask [rows, width]: 0 with probability p, otherwise 1/(1 − p), whose mean is 1. Samples the distances
 *  between zeros, P(d) = (1 − p)^(d−1)·p, which takes one random number per zero. */
function sampleMask(
  p: number,
  { rows, width, random }: MaskOptions & { readonly width: number },
): Tensor<'float32'> {
  const mask = new Float32Array(rows * width).fill(1 / (1 - p));
  const logKept = Math.log1p(-p);
  const distance = () => 1 + Math.floor(Math.log1p(-random.next()) / logKept);
  for (let k = distance() - 1; k < mask.length; k += distance()) mask[k] = 0;
  return tensor(mask, [rows, width]);
}
