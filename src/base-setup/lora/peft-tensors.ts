import { quote, showList } from '../safetensors/quote.ts';
import type { TensorInfo } from '../safetensors/tensor-info.ts';
import type { ModuleShapes } from './lora-adapter.ts';

export const tensorFileName = 'adapter_model.safetensors';
/** PEFT's name for the base, before each of its names. */
export const basePrefix = 'base_model.model.';
/** The modules that PEFT itself adds to `modules_to_save` when a model classifies. */
const heads: readonly string[] = ['score', 'classifier'];

export interface AdapterTensors {
  /** Modules with A and B, in the base's order. */
  readonly modules: readonly string[];
  /** Tensors of a head, by their names in the model. */
  readonly heads: readonly string[];
}

interface SortOptions {
  readonly file: string;
  readonly modules: ModuleShapes;
  readonly r: number;
  /** The base that the adapter was made for, as far as it says so. */
  readonly madeFor: string | undefined;
}

/** Finds out which modules of the base an adapter changes; refuses whatever does not belong to it. */
export function sortTensors(
  tensors: readonly TensorInfo[],
  { file, modules, r, madeFor }: SortOptions,
): AdapterTensors {
  const hint = madeFor === undefined ? '' : `; the adapter was made for ${quote(madeFor)}`;
  const refuse = (text: string) => new RangeError(`Cannot read ${file}: ${text}`);
  const found = new Set<string>();
  const headNames: string[] = [];
  for (const { name: stored, shape } of tensors) {
    const name = stored.startsWith(basePrefix) ? stored.slice(basePrefix.length) : '';
    const [, module, kind] = name.match(/^(.+)\.lora_([AB])\.weight$/) ?? [];
    if (module === undefined) {
      if (!isHead(name)) throw refuse(unknownTensor(stored));
      headNames.push(name);
      continue;
    }
    const size = modules.get(module);
    if (size === undefined) {
      throw refuse(`the base must have a linear module ${quote(module)}, got none${hint}`);
    }
    const wanted = kind === 'A' ? [r, size[1]] : [size[0], r];
    if (shape.length !== 2 || shape.some((dim, axis) => dim !== wanted[axis])) {
      throw refuse(
        `${quote(name)} must be ${showList(wanted)} for this base and rank, got ${showList(shape)}${hint}`,
      );
    }
    found.add(name);
  }
  return { modules: checkPairs(found, { modules, refuse }), heads: headNames };
}

function isHead(name: string): boolean {
  return heads.some((head) => name === `${head}.weight` || name === `${head}.bias`);
}

function unknownTensor(stored: string): string {
  return `its tensors must be ${basePrefix}<module>.lora_A.weight, its lora_B.weight or those of a head named ${heads.join(' or ')}, got ${quote(stored)}; merge the adapter with PEFT`;
}

/** The modules with A and B; where one layer has them, all must, as one graph serves all layers. */
function checkPairs(
  found: ReadonlySet<string>,
  { modules, refuse }: { modules: ModuleShapes; refuse: (text: string) => Error },
): string[] {
  const adapted = [...modules.keys()].filter((module) => {
    const [a, b] = [`${module}.lora_A.weight`, `${module}.lora_B.weight`];
    if (found.has(a) === found.has(b)) return found.has(a);
    const [there, missing] = found.has(a) ? [a, b] : [b, a];
    throw refuse(`${quote(there)} must come with ${quote(missing)}, got none`);
  });
  if (adapted.length === 0) throw refuse('it must have A and B of a module, got none');
  const places = new Set(adapted.map(placeInLayer));
  for (const module of modules.keys()) {
    if (!places.has(placeInLayer(module)) || found.has(`${module}.lora_A.weight`)) continue;
    throw refuse(
      `${quote(module)} must have A and B, as the other layers do, got none; adapters of some layers only cannot be read, merge the adapter with PEFT`,
    );
  }
  return adapted;
}

/** A module's name within its layer.
 *  @example model.layers.3.self_attn.q_proj  →  self_attn.q_proj */
export function placeInLayer(module: string): string {
  return module.replace(/^.*?\.\d+\./, '');
}
