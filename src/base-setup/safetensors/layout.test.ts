import { expect, test } from 'vitest';
import { MemorySource, makeFile } from '../../../test/fixtures/safetensors/make-file.ts';
import { readHeader } from './header.ts';

/** A file whose tensors of bytes have the given offsets. */
const fileOf = (tensors: Record<string, [begin: number, end: number]>, dataBytes: number) => {
  const header = Object.entries(tensors).map(([name, [begin, end]]) => {
    return [name, { dtype: 'U8', shape: [end - begin], data_offsets: [begin, end] }];
  });
  return makeFile({ header: Object.fromEntries(header), data: new Uint8Array(dataBytes) });
};

test.each([
  [
    'is cut short',
    fileOf({ a: [0, 3], w: [3, 6] }, 5),
    'tensor "w": it must end within the 5 bytes of data, got data_offsets [3, 6]; the file is cut short',
  ],
  [
    'has tensors that overlap',
    fileOf({ w: [2, 6], a: [0, 3] }, 6),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 2: they overlap',
  ],
  [
    'has a tensor twice under two names',
    fileOf({ a: [0, 3], w: [0, 3] }, 3),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 0: they overlap',
  ],
  [
    'has a hole between its tensors',
    fileOf({ a: [0, 3], w: [4, 6] }, 6),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 4: a hole lies between',
  ],
  [
    'has a hole before its tensors',
    fileOf({ w: [1, 6] }, 6),
    'tensor "w": it must start at byte 0 of the data, where the header ends, got byte 1: a hole lies between',
  ],
  [
    'has an empty tensor outside the data',
    fileOf({ w: [7, 7] }, 6),
    'tensor "w": it must end within the 6 bytes of data, got data_offsets [7, 7]; the file is cut short',
  ],
  [
    'has bytes after its tensors',
    fileOf({ w: [0, 5] }, 6),
    'the tensors must fill the 6 bytes of data, got 5',
  ],
  ['has data but no tensor', fileOf({}, 6), 'the tensors must fill the 6 bytes of data, got 0'],
])('checkLayout() refuses a file that %s', async (_, file, message) => {
  await expect(readHeader(new MemorySource(file))).rejects.toThrow(
    new RangeError(`Cannot read m.safetensors: ${message}`),
  );
});

test('checkLayout() accepts empty tensors where others start and end', async () => {
  const file = fileOf({ z: [5, 5], w: [0, 5], a: [0, 0], e: [0, 0] }, 5);
  const { tensors } = await readHeader(new MemorySource(file));
  expect(tensors.map(({ name }) => name)).toEqual(['a', 'e', 'w', 'z']);
});
