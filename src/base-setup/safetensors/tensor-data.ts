import { type ByteSource, readFully } from './byte-source.ts';
import { floatDtypes, isFloatDtype } from './dtypes.ts';
import { decodeBfloat16, decodeFloat16 } from './float16.ts';
import { quote } from './quote.ts';
import { countElements, type TensorInfo } from './tensor-info.ts';

/** Elements of 16 bits that are read while the piece before them is decoded. */
const pieceElements = 2 ** 18;

/** Fills `target` with the tensor's values. F32 bytes go straight to their place; 16-bit floats are
 *  read into the last half of each piece of `target` and decoded within it: no other memory. */
export async function readFloat32Into(
  source: ByteSource,
  { info, target }: { readonly info: TensorInfo; readonly target: Float32Array },
): Promise<void> {
  const { dtype, offset: position } = info;
  const elements = checkFloat32(info);
  if (target.length !== elements) {
    throw new RangeError(
      `Cannot read tensor ${quote(info.name)} of ${info.file}: target must have ${elements} elements, got ${target.length}`,
    );
  }
  if (dtype === 'F32') return readFully(source, target, { position });
  const decode = dtype === 'BF16' ? decodeBfloat16 : decodeFloat16;
  let next = readPiece(0);
  for (let start = 0; start < elements; start += pieceElements) {
    const { halves, floats } = await next;
    next = readPiece(start + pieceElements);
    decode(halves, floats);
  }

  async function readPiece(start: number) {
    const floats = target.subarray(start, start + pieceElements);
    const { buffer, byteOffset, length } = floats;
    const halves = new Uint16Array(buffer, byteOffset + 2 * length, length);
    await readFully(source, halves, { position: position + 2 * start });
    return { halves, floats };
  }
}

/** The number of elements of a tensor that can be read as float32. */
export function checkFloat32({ name, file, dtype, shape }: TensorInfo): number {
  if (isFloatDtype(dtype)) return countElements(shape);
  throw new TypeError(
    `Cannot read tensor ${quote(name)} of ${file} as float32: dtype must be ${floatDtypes.join(', ')}, got ${dtype}; read its bytes instead`,
  );
}
