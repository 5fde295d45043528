import type { AtomicFile } from '../../fs/index.ts';
import { encodeBfloat16, encodeFloat16 } from './float16.ts';
import { quote, showList } from './quote.ts';
import type { Slot } from './write-plan.ts';

/** A tensor with its values. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Tensors that come one after the other; the next is asked for when the last is written, so that
 *  their maker may use one array for all. */
export type TensorStream = Iterable<NamedTensor> | AsyncIterable<NamedTensor>;

/** Where a tensor goes. */
export interface Destination {
  readonly file: AtomicFile;
  readonly slot: Slot;
}

/** Elements that are encoded at once. */
const pieceElements = 2 ** 20;

/** Writes each tensor of the stream to its place; each must come once, in any order. */
export async function writeStream(
  stream: TensorStream,
  destinations: ReadonlyMap<string, Destination>,
): Promise<void> {
  const waiting = new Map(destinations);
  const halves = new Uint16Array(pieceElements);
  for await (const tensor of stream) {
    const destination = waiting.get(tensor.name);
    if (destination === undefined) {
      const got = destinations.has(tensor.name) ? 'it twice' : 'one that was not announced';
      throw new RangeError(
        `Cannot write tensor ${quote(tensor.name)}: each announced tensor must come once, got ${got}`,
      );
    }
    checkTensor(tensor, destination.slot);
    await writeTensor(tensor.data, { ...destination, halves });
    waiting.delete(tensor.name);
  }
  for (const name of waiting.keys()) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: each announced tensor must come once, got no data`,
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
  for (let start = 0; start < data.length; start += pieceElements) {
    const floats = data.subarray(start, start + pieceElements);
    const piece = halves.subarray(0, floats.length);
    encode(floats, piece);
    await file.write(piece, slot.position + 2 * start);
  }
}
