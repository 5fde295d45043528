import { quote } from './quote.ts';
import type { TensorInfo } from './tensor-info.ts';

/** Where the data of a file lies: from `dataStart` to its end. */
export interface DataRange {
  readonly file: string;
  readonly dataStart: number;
  readonly size: number;
}

/** The tensors, in the order of their bytes, must fill the data without overlap, hole or rest. */
export function checkLayout(
  tensors: readonly TensorInfo[],
  { file, dataStart, size }: DataRange,
): void {
  const dataBytes = size - dataStart;
  let filled = 0;
  let before = 'the header';
  for (const { name, offset, length } of tensors) {
    const begin = offset - dataStart;
    const subject = `Cannot read ${file}: tensor ${quote(name)}`;
    if (begin + length > dataBytes) {
      throw new RangeError(
        `${subject}: it must end within the ${dataBytes} bytes of data, got data_offsets [${begin}, ${begin + length}]; the file is cut short`,
      );
    }
    if (begin !== filled) {
      const fault = begin < filled ? 'they overlap' : 'a hole lies between';
      throw new RangeError(
        `${subject}: it must start at byte ${filled} of the data, where ${before} ends, got byte ${begin}: ${fault}`,
      );
    }
    filled += length;
    before = `tensor ${quote(name)}`;
  }
  if (filled !== dataBytes) {
    throw new RangeError(
      `Cannot read ${file}: the tensors must fill the ${dataBytes} bytes of data, got ${filled}`,
    );
  }
}
