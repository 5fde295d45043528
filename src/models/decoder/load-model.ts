import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ResolveModelOptions, resolveModel } from '../../base-setup/hub/index.ts';
import { SafetensorsReader } from '../../base-setup/safetensors/index.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { parseJsonObject } from '../../fs/index.ts';
import { BaseModel } from './base-model.ts';
import { type Architecture, readArchitecture } from './families/index.ts';
import { weightShapes } from './weight-shapes.ts';

/** A base model and its tokenizer, read from the same folder. */
export interface LoadedModel {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  /** The folder that the model was read from. */
  readonly folder: string;
  /** The base that adapters refer to: the id on the hub, or the folder if missing. */
  readonly name?: string | undefined;
}

/** Loads a Hugging Face model from a folder or from the hub. */
export async function loadModel(
  idOrPath: string,
  options: ResolveModelOptions = {},
): Promise<LoadedModel> {
  const folder = await resolveModel(idOrPath, options);
  const architecture = await readConfig(folder);
  const tokenizer = await loadTokenizer(folder);
  const name = resolve(idOrPath) === folder ? folder : idOrPath;
  return { base: await loadBase(folder, architecture), tokenizer, folder, name };
}

/** Reads and checks a folder's config.json. */
export async function readConfig(folder: string): Promise<Architecture> {
  const file = join(folder, 'config.json');
  return readArchitecture(parseJsonObject(await readFile(file, 'utf8'), file), file);
}

/**
 * Loads the base model of a folder. Weights are read one by one, each into its own float32 array, so
 * no second copy exists.
 */
export async function loadBase(folder: string, architecture: Architecture): Promise<BaseModel> {
  const reader = await SafetensorsReader.open(folder);
  try {
    const weights = new Map<string, Tensor<'float32'>>();
    for (const [name, shape] of weightShapes(architecture)) {
      const stored = storedName(reader, name, architecture);
      expectShape(reader, stored, { folder, shape });
      weights.set(name, tensor(await reader.read(stored), shape));
    }
    return new BaseModel(architecture, weights);
  } finally {
    await reader.close();
  }
}

/** Some files leave out the prefix of the whole model, such as GPT-2's `transformer.`. */
function storedName(reader: SafetensorsReader, name: string, { family }: Architecture): string {
  const [prefix] = family.names.embedding.split('.');
  const short = name.replace(`${prefix}.`, '');
  return !reader.has(name) && reader.has(short) ? short : name;
}

function expectShape(
  reader: SafetensorsReader,
  name: string,
  { folder, shape }: { folder: string; shape: readonly number[] },
): void {
  const actual = reader.has(name) ? reader.info(name).shape : undefined;
  if (actual?.length === shape.length && actual.every((size, axis) => size === shape[axis])) return;
  const got = actual === undefined ? 'no tensor of that name' : `[${actual}]`;
  throw new RangeError(
    `Cannot load ${folder}: according to its config.json "${name}" must be [${shape}], got ${got}; the weights belong to another model`,
  );
}
