import { join, resolve } from 'node:path';
import { type ResolveModelOptions, resolveModel } from '../../base-setup/hub/index.ts';
import type { AdapterBase, BaseFingerprint } from '../../base-setup/lora/base-fingerprint.ts';
import { SafetensorsReader } from '../../base-setup/safetensors/index.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { parseJsonObject, readRegularText } from '../../fs/index.ts';
import { BaseModel } from './base-model.ts';
import { type BasePrecision, chooseBasePrecision } from './base-precision.ts';
import { type Architecture, readArchitecture } from './families/index.ts';
import { byName, fingerprintStream, type NamedWeight } from './fingerprint-weights.ts';
import { quantizeBase } from './quantize-base.ts';
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
}

/** Loads a Hugging Face model from a folder or from the hub. */
export async function loadModel(
  idOrPath: string,
  options: LoadModelOptions = {},
): Promise<LoadedModel> {
  const folder = await resolveModel(idOrPath, options);
  const architecture = await readConfig(folder);
  const tokenizer = await loadModelTokenizer(folder, architecture);
  const { name = resolve(idOrPath) === folder ? folder : idOrPath, basePrecision } = options;
  const precision =
    basePrecision === 'auto' ? (await chooseBasePrecision()).precision : basePrecision;
  const base = await loadBase(folder, architecture, { name, precision });
  return { base, tokenizer, folder, name };
}

/** Loads the tokenizer of a model's folder. Its tokens must fit the rows of the model's embedding. */
async function loadModelTokenizer(folder: string, { config }: Architecture): Promise<Tokenizer> {
  const tokenizer = await loadTokenizer(folder);
  expectMatchingVocabulary(folder, { tokens: tokenizer.vocabSize, rows: config.vocab_size });
  return tokenizer;
}

/** Most rows of an embedding without a token: models round their vocabulary up, such as Phi-2 from
 *  50,295 tokens to 51,200 rows and Qwen3 from 151,669 to 151,936. */
const MAX_PADDING = { rows: 256, fraction: 0.05 };

/** Requires that every token has a row of the embedding, and that few rows have no token. */
export function expectMatchingVocabulary(
  folder: string,
  { tokens, rows }: { readonly tokens: number; readonly rows: number },
): void {
  const maxPadding = Math.max(MAX_PADDING.rows, Math.floor(MAX_PADDING.fraction * rows));
  if (tokens <= rows && rows - tokens <= maxPadding) return;
  const show = (count: number) => count.toLocaleString('en');
  const rule =
    tokens > rows
      ? `its token ids must be below the model's vocab_size of ${show(rows)}, got ids up to ${show(tokens - 1)}`
      : `it must have at least ${show(rows - maxPadding)} tokens for the model's vocab_size of ${show(rows)}, got ${show(tokens)}`;
  throw new RangeError(
    `Cannot use the tokenizer in ${folder}: ${rule}; it belongs to another model, copy the files of the right one`,
  );
}

/** Reads and checks a folder's config.json. */
export async function readConfig(folder: string): Promise<Architecture> {
  const file = join(folder, 'config.json');
  return readArchitecture(parseJsonObject(await readRegularText(file), file), file);
}

/**
 * Loads the base model of a folder. Weights are read one by one, each into its own float32 array, so
 * no second copy exists; with precision int8, each array is freed once it is quantized.
 */
export async function loadBase(
  folder: string,
  architecture: Architecture,
  { name = folder, precision = 'f32' }: LoadBaseOptions = {},
): Promise<BaseModel> {
  if (precision === 'int8') {
    const shapes = [...weightShapes(architecture)].sort(byName);
    return quantizeBase(architecture, readWeights(folder, { architecture, shapes }), { name });
  }
  const weights = new Map<string, Tensor<'float32'>>();
  const shapes = weightShapes(architecture);
  for await (const [weight, values] of readWeights(folder, { architecture, shapes })) {
    weights.set(weight, values);
  }
  return new BaseModel(architecture, weights, { name });
}

interface LoadBaseOptions {
  /** What errors call the model; the folder by default. */
  readonly name?: string | undefined;
  /** f32 by default. */
  readonly precision?: BasePrecision | undefined;
}

interface WantedWeights {
  readonly architecture: Architecture;
  /** Names and shapes, in the order in which to read them. */
  readonly shapes: Iterable<readonly [string, readonly number[]]>;
}

/** Reads weights one by one. */
async function* readWeights(
  folder: string,
  { architecture, shapes }: WantedWeights,
): AsyncGenerator<NamedWeight> {
  const reader = await SafetensorsReader.open(folder);
  try {
    for (const [weight, shape] of shapes) {
      const stored = storedName(reader, weight, architecture);
      expectShape(reader, stored, { folder, shape });
      yield [weight, tensor(await reader.read(stored), shape)];
    }
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
  const shapes = [...weightShapes(architecture)].sort(byName);
  let fingerprint: Promise<BaseFingerprint> | undefined;
  const base = {
    ...{ name, architecture },
    modules: () => moduleShapes(architecture),
    fingerprint: () => {
      const weights = readWeights(folder, { architecture, shapes });
      fingerprint ??= fingerprintStream(architecture, weights);
      return fingerprint;
    },
  };
  return { base, tokenizer, folder };
}

/** Checks that a folder has every weight of the model in its shape, from the headers of the files. */
async function checkWeights(folder: string, architecture: Architecture): Promise<void> {
  const reader = await SafetensorsReader.open(folder);
  try {
    for (const [weight, shape] of weightShapes(architecture)) {
      expectShape(reader, storedName(reader, weight, architecture), { folder, shape });
    }
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
