import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { SafetensorsReader } from '../safetensors/reader.ts';
import { quote, showList, type TensorInfo } from '../safetensors/tensor-info.ts';
import { type AdapterBase, checkBase, readFingerprint } from './base-fingerprint.ts';
import { LoraAdapter, type ModuleShapes } from './lora-adapter.ts';
import { layerOf, matchesModule } from './lora-config.ts';
import {
  basePrefix,
  configFileName,
  headModules,
  type PeftConfig,
  parsePeftConfig,
  tensorFileName,
} from './peft-config.ts';

/** The content of a PEFT folder. */
export interface PeftAdapter extends Omit<PeftConfig, 'lora'> {
  readonly adapter: LoraAdapter;
  /** Weights of a value or reward head, such as `score.weight`. */
  readonly extraTensors: ReadonlyMap<string, Tensor<'float32'>>;
  /** One sentence if the adapter may be for another base: it names another, and has no fingerprint. */
  readonly warning: string | undefined;
}

/** The two files of a saved adapter. */
export interface AdapterSource {
  /** What errors call the adapter: its folder. */
  readonly name: string;
  readonly config: PeftConfig;
  readonly tensors: SafetensorsReader;
}

/** Reads a LoRA adapter over the base that it was trained on. */
export async function decodeAdapter(
  { name, config, tensors: reader }: AdapterSource,
  base: AdapterBase,
): Promise<PeftAdapter> {
  const { lora, ...about } = config;
  const { path: file } = reader;
  const trainedOn = about.baseModelNameOrPath;
  const fingerprint = readFingerprint(reader.metadata, file);
  const warning = await checkBase({ folder: name, trainedOn, fingerprint }, base);
  const modules = base.modules();
  const sorted = sortTensors(reader.tensors, { file, modules, r: lora.r, trainedOn });
  const weights = await readTensors(
    reader,
    sorted.modules.flatMap((module) => [`${module}.lora_A.weight`, `${module}.lora_B.weight`]),
  );
  const all = [...modules.keys()];
  const places = {
    ...nameLayers(sorted.modules, all),
    target_modules: nameTargets(sorted.modules, all),
  };
  return {
    ...about,
    adapter: new LoraAdapter({ ...lora, ...places }, weights),
    extraTensors: await readTensors(reader, sorted.heads),
    warning,
  };
}

/** The files of a saved adapter in memory, by their names. */
export type AdapterFiles = Readonly<
  Record<typeof configFileName | typeof tensorFileName, Uint8Array>
>;

/** Reads an adapter from the bytes of its files.
 *  @param name what errors call it */
export async function adapterFromFiles(
  files: AdapterFiles,
  base: AdapterBase,
  { name = 'of these files' }: { readonly name?: string } = {},
): Promise<PeftAdapter> {
  const text = new TextDecoder().decode(files[configFileName]);
  const tensors = await SafetensorsReader.fromBytes(files[tensorFileName], tensorFileName);
  return decodeAdapter({ name, config: parsePeftConfig(text, configFileName), tensors }, base);
}

async function readTensors(
  reader: SafetensorsReader,
  names: readonly string[],
): Promise<Map<string, Tensor<'float32'>>> {
  const tensors = new Map<string, Tensor<'float32'>>();
  for (const name of names) {
    const stored = `${basePrefix}${name}`;
    tensors.set(name, tensor(await reader.read(stored), reader.info(stored).shape));
  }
  return tensors;
}

interface SortedTensors {
  /** Modules with A and B, in the base's order. */
  readonly modules: readonly string[];
  /** Names of the head's tensors in the model. */
  readonly heads: readonly string[];
}

interface SortOptions {
  readonly file: string;
  readonly modules: ModuleShapes;
  readonly r: number;
  /** The base that the adapter was trained on, if its config says so. */
  readonly trainedOn: string | undefined;
}

/** Sorts an adapter's tensors into LoRA pairs and heads; throws on any other tensor. */
function sortTensors(
  tensors: readonly TensorInfo[],
  { file, modules, r, trainedOn }: SortOptions,
): SortedTensors {
  const hint = trainedOn === undefined ? '' : `; the adapter was trained on ${quote(trainedOn)}`;
  const fail = (text: string) => new RangeError(`Cannot read ${file}: ${text}`);
  const loraNames = new Set<string>();
  const heads: string[] = [];
  for (const { name: stored, shape } of tensors) {
    const name = stored.startsWith(basePrefix) ? stored.slice(basePrefix.length) : '';
    const [, module, kind] = name.match(/^(.+)\.lora_([AB])\.weight$/) ?? [];
    if (module === undefined) {
      if (!isHead(name)) throw fail(describeUnknownTensor(stored));
      heads.push(name);
      continue;
    }
    const size = modules.get(module);
    if (size === undefined) {
      throw fail(`the base must have a linear module ${quote(module)}, got none${hint}`);
    }
    const expected = kind === 'A' ? [r, size[1]] : [size[0], r];
    if (shape.length !== 2 || shape.some((dim, axis) => dim !== expected[axis])) {
      throw fail(
        `${quote(name)} must be ${showList(expected)} for this base and rank, got ${showList(shape)}${hint}`,
      );
    }
    loraNames.add(name);
  }
  return { modules: findPairs(loraNames, { modules, fail }), heads };
}

function isHead(name: string): boolean {
  return headModules.some((head) => name === `${head}.weight` || name === `${head}.bias`);
}

function describeUnknownTensor(stored: string): string {
  return `its tensors must be ${basePrefix}<module>.lora_A.weight, its lora_B.weight or those of a head named ${headModules.join(' or ')}, got ${quote(stored)}; merge the adapter with PEFT`;
}

/** The modules with A and B. All layers with an adapter must have it on the same modules, because they
 *  share one graph. */
function findPairs(
  loraNames: ReadonlySet<string>,
  { modules, fail }: { modules: ModuleShapes; fail: (text: string) => Error },
): string[] {
  const adapted = [...modules.keys()].filter((module) => {
    const [a, b] = [`${module}.lora_A.weight`, `${module}.lora_B.weight`];
    if (loraNames.has(a) === loraNames.has(b)) return loraNames.has(a);
    const [present, missing] = loraNames.has(a) ? [a, b] : [b, a];
    throw fail(`${quote(present)} must come with ${quote(missing)}, got none`);
  });
  if (adapted.length === 0) throw fail('it must have A and B of a module, got none');
  const adaptedInLayer = new Set(adapted.map(nameInLayer));
  const layers = new Set(adapted.map(layerOf));
  for (const module of modules.keys()) {
    const isExpected = layers.has(layerOf(module)) && adaptedInLayer.has(nameInLayer(module));
    if (!isExpected || loraNames.has(`${module}.lora_A.weight`)) continue;
    throw fail(
      `${quote(module)} must have A and B like the other layers with an adapter, got none; merge the adapter with PEFT`,
    );
  }
  return adapted;
}

/** A module's name within its layer.
 *  @example model.layers.3.self_attn.q_proj  →  self_attn.q_proj */
function nameInLayer(module: string): string {
  return module.replace(/^.*?\.\d+\./, '');
}

/** The layers of these modules, unless they are all layers. */
function nameLayers(
  adapted: readonly string[],
  all: readonly string[],
): { readonly layers_to_transform?: readonly number[] } {
  const layers = [...new Set(adapted.flatMap((module) => layerOf(module) ?? []))];
  const isAll = layers.length === new Set(all.map(layerOf)).size;
  return isAll ? {} : { layers_to_transform: layers };
}

/** The shortest names that match these modules of a layer and no others. PEFT may also write full names or a
 *  pattern, but a layer's graph knows its modules by their names within the layer.
 *  @example attn.c_attn and attn.c_proj of GPT-2  →  c_attn, attn.c_proj */
function nameTargets(
  adapted: readonly string[],
  all: readonly string[],
): readonly string[] | 'all-linear' {
  const targets = new Set(adapted.map(nameInLayer));
  const candidates = [...new Set(all.map(nameInLayer))];
  if (targets.size === candidates.length) return 'all-linear';
  const names = [...targets].map((name) => {
    const last = name.slice(name.lastIndexOf('.') + 1);
    const isUnique = candidates.every((other) => !matchesModule(last, other) || targets.has(other));
    return isUnique ? last : name;
  });
  return [...new Set(names)];
}
