import { encodeBfloat16, encodeFloat16 } from './float16.ts';
import { dtypeBytes, type FloatDtype, quote, showList } from './tensor-info.ts';
import { checkSpecs, type FilePlan, planFile, type Slot, type TensorSpec } from './write-plan.ts';

/** Tensors to write, their values and their dtype. */
export interface WriteOptions {
  /** Every tensor that the stream will yield. */
  readonly tensors: readonly (Omit<TensorSpec, 'dtype'> & { readonly dtype?: FloatDtype })[];
  /** The values, in any order. */
  readonly stream: TensorStream;
  /** The dtype of tensors that do not set one; F32 by default. 16-bit floats are rounded to nearest even. */
  readonly dtype?: FloatDtype;
  /** Added to `format: pt`, which transformers requires. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The bytes of a safetensors file. */
export async function encodeSafetensors(options: WriteOptions): Promise<Uint8Array<ArrayBuffer>> {
  const { head, slots } = planTensors(resolveSpecs(options), options);
  const last = slots.at(-1);
  const size = last ? last.position + last.elements * dtypeBytes[last.dtype] : head.byteLength;
  const bytes = new Uint8Array(size);
  const file: ByteSink = {
    write: ({ buffer, byteOffset, byteLength }, position) =>
      bytes.set(new Uint8Array(buffer, byteOffset, byteLength), position),
  };
  file.write(head, 0);
  await writeStream(options.stream, new Map(slots.map((slot) => [slot.name, { file, slot }])));
  return bytes;
}

/** Lays out a file of some of the tensors. */
export function planTensors(
  specs: readonly TensorSpec[],
  { metadata }: Pick<WriteOptions, 'metadata'>,
): FilePlan {
  return planFile(specs, { format: 'pt', ...metadata });
}

/** The tensors with their dtypes; throws if a reader would reject them. */
export function resolveSpecs({ tensors, dtype = 'F32' }: WriteOptions): readonly TensorSpec[] {
  const specs = tensors.map((spec) => ({ ...spec, dtype: spec.dtype ?? dtype }));
  checkSpecs(specs);
  return specs;
}

/** A tensor with its values. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Tensors one after another. The next is requested after the previous one is written, so the source
 *  may reuse one array for all. */
export type TensorStream = Iterable<NamedTensor> | AsyncIterable<NamedTensor>;

/** What receives the bytes of a file. */
interface ByteSink {
  write(data: ArrayBufferView, position: number): void | Promise<void>;
}

/** Where a tensor is written. */
export interface Destination {
  readonly file: ByteSink;
  readonly slot: Slot;
}

/** Elements that are encoded at a time. */
const chunkElements = 2 ** 20;

/** Writes each tensor of the stream to its position; each must come once, in any order. */
export async function writeStream(
  stream: TensorStream,
  destinations: ReadonlyMap<string, Destination>,
): Promise<void> {
  const pending = new Map(destinations);
  const halves = new Uint16Array(chunkElements);
  for await (const tensor of stream) {
    const destination = pending.get(tensor.name);
    if (destination === undefined) {
      const got = destinations.has(tensor.name) ? 'it twice' : 'one that was not announced';
      throw new RangeError(
        `Cannot write tensor ${quote(tensor.name)}: each announced tensor must be streamed once, got ${got}`,
      );
    }
    checkTensor(tensor, destination.slot);
    await writeTensor(tensor.data, { ...destination, halves });
    pending.delete(tensor.name);
  }
  for (const name of pending.keys()) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: each announced tensor must be streamed once, got no data`,
    );
  }
}

function checkTensor({ name, shape, data }: NamedTensor, slot: Slot): void {
  if (shape.length !== slot.shape.length || shape.some((dim, i) => dim !== slot.shape[i])) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: its shape must be ${showList(slot.shape)} as announced, got ${showList(shape)}`,
    );
  }
  if (data.length !== slot.elements) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: ${showList(shape)} must have ${slot.elements} elements, got ${data.length}`,
    );
  }
}

async function writeTensor(
  data: Float32Array,
  { file, slot, halves }: Destination & { readonly halves: Uint16Array },
): Promise<void> {
  if (slot.dtype === 'F32') return file.write(data, slot.position);
  const encode = slot.dtype === 'BF16' ? encodeBfloat16 : encodeFloat16;
  for (let start = 0; start < data.length; start += chunkElements) {
    const floats = data.subarray(start, start + chunkElements);
    const piece = halves.subarray(0, floats.length);
    encode(floats, piece);
    await file.write(piece, slot.position + 2 * start);
  }
}
