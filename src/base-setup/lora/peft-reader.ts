import { join } from 'node:path';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { statIfExists } from '../../fs/index.ts';
import { SafetensorsReader } from '../safetensors/index.ts';
import { LoraAdapter, type ModuleShapes } from './lora-adapter.ts';
import { namesModule } from './lora-config.ts';
import { type PeftConfig, readPeftConfig } from './peft-config.ts';
import { basePrefix, placeInLayer, sortTensors, tensorFileName } from './peft-tensors.ts';

/** What a PEFT folder holds. */
export interface PeftAdapter extends Omit<PeftConfig, 'lora'> {
  readonly adapter: LoraAdapter;
  /** Weights of a value or reward head, such as `score.weight`. */
  readonly extraTensors: ReadonlyMap<string, Tensor<'float32'>>;
}

/** Reads a LoRA adapter that PEFT or `writeAdapter` saved, for a base with these modules.
 *  @example
 *  const { adapter } = await readAdapter('my-adapter', base.modules()); */
export async function readAdapter(folder: string, modules: ModuleShapes): Promise<PeftAdapter> {
  const { lora, ...about } = await readPeftConfig(folder);
  const file = await findTensors(folder);
  const reader = await SafetensorsReader.open(file);
  try {
    const madeFor = about.baseModelNameOrPath;
    const sorted = sortTensors(reader.tensors, { file, modules, r: lora.r, madeFor });
    const weights = await readTensors(
      reader,
      sorted.modules.flatMap((module) => [`${module}.lora_A.weight`, `${module}.lora_B.weight`]),
    );
    const target_modules = nameTargets(sorted.modules, [...modules.keys()]);
    return {
      ...about,
      adapter: new LoraAdapter({ ...lora, target_modules }, weights),
      extraTensors: await readTensors(reader, sorted.heads),
    };
  } finally {
    await reader.close();
  }
}

async function findTensors(folder: string): Promise<string> {
  const file = join(folder, tensorFileName);
  if ((await statIfExists(file)) !== undefined) return file;
  const pickled = (await statIfExists(join(folder, 'adapter_model.bin'))) !== undefined;
  throw new Error(
    `Cannot read the adapter ${folder}: it must have ${tensorFileName}, got ${pickled ? 'adapter_model.bin; save it again with a newer PEFT' : 'none there'}`,
  );
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

/** The shortest names that mean these modules, and no other: PEFT also writes full names or a
 *  pattern, but a layer's graph knows its modules by their names within the layer.
 *  @example attn.c_attn and attn.c_proj of GPT-2  →  c_attn, attn.c_proj */
function nameTargets(
  adapted: readonly string[],
  all: readonly string[],
): readonly string[] | 'all-linear' {
  if (adapted.length === all.length) return 'all-linear';
  const wanted = new Set(adapted.map(placeInLayer));
  const places = [...new Set(all.map(placeInLayer))];
  const names = [...wanted].map((place) => {
    const last = place.slice(place.lastIndexOf('.') + 1);
    const others = places.filter((other) => namesModule(last, other) && !wanted.has(other));
    return others.length === 0 ? last : place;
  });
  return [...new Set(names)];
}
