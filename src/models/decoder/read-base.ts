import type { SafetensorsReader } from '../../base-setup/safetensors/reader.ts';
import { backendOf, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { BaseModel, type BaseModelOptions, type BasePrecision } from './base-model.ts';
import type { Architecture } from './families/index.ts';
import { byName, type NamedWeight } from './fingerprint-weights.ts';
import { quantizeBase } from './quantize-base.ts';
import { weightShapes } from './weight-shapes.ts';

/** Name and precision of a base that is read. */
export interface ReadBaseOptions {
  /** What errors call the model; its folder by default. */
  readonly name?: string | undefined;
  /** f32 by default. */
  readonly precision?: BasePrecision | undefined;
  /** Where its graphs run; the processor by default. */
  readonly device?: BaseModelOptions['device'];
}

/**
 * Reads a base model. Weights are read one by one, each into its own float32 array, so no second copy
 * exists; with precision int8, each array is freed once it is quantized.
 */
export async function readBase(
  reader: SafetensorsReader,
  architecture: Architecture,
  { precision = 'f32', ...options }: ReadBaseOptions = {},
): Promise<BaseModel> {
  const shapes = weightShapes(architecture);
  if (precision === 'int8') {
    expectHostMemory(options);
    const sorted = [...shapes].sort(byName);
    return quantizeBase(architecture, readWeights(reader, architecture, sorted), options);
  }
  const weights = new Map<string, Tensor<'float32'>>();
  for await (const [weight, values] of readWeights(reader, architecture, shapes)) {
    weights.set(weight, values);
  }
  return new BaseModel(architecture, weights, options);
}

/** Products with bytes need a device that computes in the memory of the host. */
function expectHostMemory({ name, device = 'cpu' }: ReadBaseOptions): void {
  const backend = backendOf(device);
  if (!backend.keepsTensors) return;
  throw new Error(
    `Cannot load ${name} on ${backend.device}: the base precision must be f32 there, got int8; use f32 or device cpu`,
  );
}

/** Reads weights one by one.
 *  @param shapes names and shapes, in the order in which to read them */
export async function* readWeights(
  reader: SafetensorsReader,
  architecture: Architecture,
  shapes: Iterable<readonly [string, readonly number[]]>,
): AsyncGenerator<NamedWeight> {
  for (const [weight, shape] of shapes) {
    const stored = storedName(reader, weight, architecture);
    expectShape(reader, stored, shape);
    yield [weight, tensor(await reader.read(stored), shape)];
  }
}

/** Checks that the files have every weight of the model in its shape. */
export function checkShapes(reader: SafetensorsReader, architecture: Architecture): void {
  for (const [weight, shape] of weightShapes(architecture)) {
    expectShape(reader, storedName(reader, weight, architecture), shape);
  }
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

/** Some files leave out the prefix of the whole model, such as GPT-2's `transformer.`. */
function storedName(reader: SafetensorsReader, name: string, { family }: Architecture): string {
  const [prefix] = family.names.embedding.split('.');
  const short = name.replace(`${prefix}.`, '');
  return !reader.has(name) && reader.has(short) ? short : name;
}

function expectShape(reader: SafetensorsReader, name: string, shape: readonly number[]): void {
  const actual = reader.has(name) ? reader.info(name).shape : undefined;
  if (actual?.length === shape.length && actual.every((size, axis) => size === shape[axis])) return;
  const got = actual === undefined ? 'no tensor of that name' : `[${actual}]`;
  throw new RangeError(
    `Cannot load ${reader.path}: according to its config.json "${name}" must be [${shape}], got ${got}; the weights belong to another model`,
  );
}
