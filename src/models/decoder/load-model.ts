import { join, resolve } from 'node:path';
import { type ResolveModelOptions, resolveModel } from '../../base-setup/hub/index.ts';
import type { AdapterBase, BaseFingerprint } from '../../base-setup/lora/base-fingerprint.ts';
import { openSafetensors } from '../../base-setup/safetensors/index.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import { type Backend, backendOf, type Device, expectDevice } from '../../engine/runtime/index.ts';
import { parseJsonObject, readRegularText } from '../../fs/index.ts';
import type { BaseModel, BasePrecision } from './base-model.ts';
import { chooseBasePrecision } from './base-precision.ts';
import { type Architecture, readArchitecture } from './families/index.ts';
import { byName, fingerprintStream, type NamedWeight } from './fingerprint-weights.ts';
import {
  checkShapes,
  expectMatchingVocabulary,
  type ReadBaseOptions,
  readBase,
  readWeights,
} from './read-base.ts';
import { moduleShapes, weightShapes } from './weight-shapes.ts';

/** A base model and its tokenizer, read from the same folder. */
export interface LoadedModel {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  /** The folder that the model was read from. */
  readonly folder: string;
  /** The base that adapters refer to: the id on the hub, or the folder if there is no id. */
  readonly name?: string | undefined;
}

export interface LoadModelOptions extends ResolveModelOptions {
  /** What adapters and errors call the model; by default the id or folder that it is loaded from. */
  readonly name?: string | undefined;
  /** Precision of the matrices; f32 by default. `auto` is int8 if that is faster on this machine. */
  readonly basePrecision?: BasePrecision | 'auto' | undefined;
  /** Where the graphs run; `auto` and `cpu` are the processor. */
  readonly device?: Device | 'auto' | Backend | undefined;
}

/** Loads a Hugging Face model from a folder or from the hub. */
export async function loadModel(
  idOrPath: string,
  options: LoadModelOptions = {},
): Promise<LoadedModel> {
  const { device = 'auto' } = options;
  const backend = backendOf(device === 'auto' ? 'cpu' : device);
  await expectDevice(backend);
  const folder = await resolveModel(idOrPath, options);
  const architecture = await readConfig(folder);
  const tokenizer = await loadModelTokenizer(folder, architecture);
  const { name = resolve(idOrPath) === folder ? folder : idOrPath, basePrecision } = options;
  const precision = basePrecision === 'auto' ? await precisionFor(backend) : basePrecision;
  const base = await loadBase(folder, architecture, { name, precision, device: backend });
  return { base, tokenizer, folder, name };
}

/** What `auto` means: devices with their own memory multiply float32 numbers only. */
async function precisionFor({ keepsTensors }: Backend): Promise<BasePrecision> {
  return keepsTensors ? 'f32' : (await chooseBasePrecision()).precision;
}

/** Loads the tokenizer of a model's folder. Its tokens must fit the rows of the model's embedding. */
async function loadModelTokenizer(folder: string, { config }: Architecture): Promise<Tokenizer> {
  const tokenizer = await loadTokenizer(folder);
  expectMatchingVocabulary(folder, { tokens: tokenizer.vocabSize, rows: config.vocab_size });
  return tokenizer;
}

/** Reads and checks a folder's config.json. */
export async function readConfig(folder: string): Promise<Architecture> {
  const file = join(folder, 'config.json');
  return readArchitecture(parseJsonObject(await readRegularText(file), file), file);
}

/** Loads the base model of a folder. */
export async function loadBase(
  folder: string,
  architecture: Architecture,
  options: ReadBaseOptions = {},
): Promise<BaseModel> {
  const reader = await openSafetensors(folder);
  try {
    return await readBase(reader, architecture, { name: folder, ...options });
  } finally {
    await reader.close();
  }
}

/** Reads weights of a folder one by one. */
async function* readFolder(
  folder: string,
  architecture: Architecture,
): AsyncGenerator<NamedWeight> {
  const reader = await openSafetensors(folder);
  try {
    yield* readWeights(reader, architecture, [...weightShapes(architecture)].sort(byName));
  } finally {
    await reader.close();
  }
}

/** A model without its weights in memory: enough to read data and to check adapters. A `LoadedModel` is
 *  one too. */
export interface ModelHeader {
  readonly base: AdapterBase & Pick<BaseModel, 'architecture'>;
  readonly tokenizer: Tokenizer;
  /** The folder of the model. */
  readonly folder: string;
}

/** Reads a model's config, its tokenizer and the headers of its weights, and checks them as `loadModel`
 *  does. The weights themselves are read, one by one, only if a fingerprint is needed. */
export async function readModelHeader(
  folder: string,
  { name = folder }: { readonly name?: string } = {},
): Promise<ModelHeader> {
  const architecture = await readConfig(folder);
  const tokenizer = await loadModelTokenizer(folder, architecture);
  await checkWeights(folder, architecture);
  let fingerprint: Promise<BaseFingerprint> | undefined;
  const base = {
    ...{ name, architecture },
    modules: () => moduleShapes(architecture),
    fingerprint: () => {
      fingerprint ??= fingerprintStream(architecture, readFolder(folder, architecture));
      return fingerprint;
    },
  };
  return { base, tokenizer, folder };
}

/** Checks that a folder has every weight of the model in its shape, from the headers of the files. */
async function checkWeights(folder: string, architecture: Architecture): Promise<void> {
  const reader = await openSafetensors(folder);
  try {
    checkShapes(reader, architecture);
  } finally {
    await reader.close();
  }
}
