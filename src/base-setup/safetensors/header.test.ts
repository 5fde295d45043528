import { describe, expect, test } from 'vitest';
import { MemorySource, makeFile } from '../../../test/fixtures/safetensors/make-file.ts';
import { readHeader } from './header.ts';

const read = (bytes: Uint8Array) => readHeader(new MemorySource(bytes));

/** A header with one tensor that fits 16 bytes of data, changed at will. */
const oneTensor = (changes: Record<string, unknown>) =>
  makeFile({
    header: { w: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16], ...changes } },
    data: new Uint8Array(16),
  });

test('readHeader() lists tensors in the order of their bytes, with absolute offsets', async () => {
  const header = JSON.stringify({
    b: { data_offsets: [4, 10], shape: [3, 1], dtype: 'BF16' },
    __metadata__: { format: 'pt' },
    a: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
    none: { dtype: 'I64', shape: [5, 0], data_offsets: [4, 4] },
  });
  const { tensors, metadata } = await read(
    makeFile({ header: `${header}\n  `, data: new Uint8Array(10) }),
  );
  const start = 8 + header.length + 3;
  const file = 'm.safetensors';
  expect(tensors).toEqual([
    { name: 'a', dtype: 'F32', shape: [], file, offset: start, length: 4 },
    { name: 'none', dtype: 'I64', shape: [5, 0], file, offset: start + 4, length: 0 },
    { name: 'b', dtype: 'BF16', shape: [3, 1], file, offset: start + 4, length: 6 },
  ]);
  expect([...metadata]).toEqual([['format', 'pt']]);
});

test('readHeader() accepts a file without tensors', async () => {
  expect(await read(makeFile({ header: {} }))).toEqual({ tensors: [], metadata: new Map() });
});

describe('readHeader() rejects a file', () => {
  const range = 'from 0 to 2^53 - 1';
  const dtypeList = 'BOOL, U8, I8, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64';
  const w = 'tensor "w"';
  const cases: [what: string, bytes: Uint8Array, message: string][] = [
    [
      'shorter than its prefix',
      new Uint8Array(5),
      'a safetensors file must have at least 8 bytes, got 5',
    ],
    [
      'whose header is longer than the limit',
      makeFile({ header: {}, headerLength: 2n ** 64n - 1n }),
      'the header must have at most 100000000 bytes, got 18446744073709551615; is it a safetensors file?',
    ],
    [
      'whose header is longer than the file',
      makeFile({ header: {}, headerLength: 3 }),
      'the header must end within the file of 10 bytes, got a header of 3 bytes; the file is truncated',
    ],
    [
      'whose header is not UTF-8',
      Buffer.from(makeFile({ header: '{"a"}' }).toString('latin1').replace('a', 'é'), 'latin1'),
      'the header must be UTF-8, got other bytes',
    ],
    [
      'whose header is empty',
      makeFile({ header: '' }),
      'the header must start with "{", got no text',
    ],
    [
      'whose header starts with a byte-order mark',
      makeFile({ header: '\ufeff{}' }),
      'the header must start with "{", got "\ufeff"',
    ],
    ['whose header is a list', makeFile({ header: [] }), 'the header must start with "{", got "["'],
    [
      'whose header is not JSON',
      makeFile({ header: '{"w":{},}' }),
      `${w}: it must have a dtype, got none`,
    ],
    [
      'whose header has text after its end',
      makeFile({ header: '{}}' }),
      'the header must be JSON, got } at character 2',
    ],
    [
      'whose header does not end',
      makeFile({ header: '{"__metadata__":{"a":"b"}' }),
      'the header must be JSON, got the end at character 25',
    ],
    [
      'with a duplicate tensor',
      makeFile({ header: '{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0077":1}' }),
      'the header: a key must be unique, got "w" twice',
    ],
    [
      'whose tensor is a number',
      makeFile({ header: { w: 7 } }),
      `${w}: it must be an object, got 7`,
    ],
    [
      'whose metadata is a list',
      makeFile({ header: { __metadata__: [] } }),
      '__metadata__: it must be an object of strings, got a list',
    ],
    [
      'whose metadata has a number',
      makeFile({ header: { __metadata__: { step: 7 } } }),
      '__metadata__: it must be an object of strings, got 7',
    ],
    ['without dtype', oneTensor({ dtype: undefined }), `${w}: it must have a dtype, got none`],
    ['without shape', oneTensor({ shape: undefined }), `${w}: it must have a shape, got none`],
    [
      'without data_offsets',
      oneTensor({ data_offsets: undefined }),
      `${w}: it must have data_offsets, got none`,
    ],
    [
      'whose tensor has an unknown key',
      oneTensor({ strides: [1] }),
      `${w}: its keys must be dtype, shape and data_offsets, got "strides"`,
    ],
    ['whose dtype is null', oneTensor({ dtype: null }), `${w}: dtype must be a string, got null`],
    [
      'whose dtype is unknown',
      oneTensor({ dtype: 'F8_E4M3' }),
      `${w}: dtype must be one of ${dtypeList}, got "F8_E4M3"`,
    ],
    [
      'whose dtype is a property of every object',
      oneTensor({ dtype: 'constructor' }),
      `${w}: dtype must be one of ${dtypeList}, got "constructor"`,
    ],
    [
      'whose shape is text',
      oneTensor({ shape: '4' }),
      `${w}: shape must be a list of whole numbers ${range}, got "4"`,
    ],
    [
      'with a negative dim',
      oneTensor({ shape: [-2, -2] }),
      `${w}: shape must be a list of whole numbers ${range}, got -2`,
    ],
    [
      'with a fractional dim',
      oneTensor({ shape: [2.5] }),
      `${w}: shape must be a list of whole numbers ${range}, got 2.5`,
    ],
    [
      'with a dim above 2^53',
      oneTensor({ shape: [2 ** 53, 0] }),
      `${w}: shape must be a list of whole numbers ${range}, got 9007199254740992`,
    ],
    [
      'with dims whose product is above 2^53',
      oneTensor({ shape: [2 ** 30, 2 ** 30, 2 ** 30] }),
      `${w}: shape must have at most 2^53 - 1 elements, got [1073741824, 1073741824, 1073741824]`,
    ],
    [
      'with too many dims',
      oneTensor({ shape: Array(65).fill(1) }),
      `${w}: shape must have at most 64 numbers, got more`,
    ],
    [
      'with three offsets',
      oneTensor({ data_offsets: [0, 16, 16] }),
      `${w}: data_offsets must be two numbers, got [0, 16, 16]`,
    ],
    [
      'with a negative offset',
      oneTensor({ data_offsets: [-16, 0] }),
      `${w}: data_offsets must be a list of whole numbers ${range}, got -16`,
    ],
    [
      'whose offsets do not fit the shape',
      oneTensor({ shape: [2, 3] }),
      `${w}: data_offsets must span the 24 bytes of F32 [2, 3], got [0, 16]`,
    ],
    [
      'whose offsets go backwards',
      oneTensor({ data_offsets: [16, 0] }),
      `${w}: data_offsets must span the 16 bytes of F32 [2, 2], got [16, 0]`,
    ],
  ];

  test.each(cases)('%s', async (_, file, message) => {
    await expect(read(file)).rejects.toMatchObject({
      message: `Cannot read m.safetensors: ${message}`,
    });
  });
});

test('readHeader() truncates long names and shapes in errors', async () => {
  const entry = { dtype: 'U8', shape: Array(64).fill(1), data_offsets: [0, 3] };
  await expect(read(makeFile({ header: { ['n'.repeat(1e6)]: entry } }))).rejects.toThrow(
    new SyntaxError(
      `Cannot read m.safetensors: tensor "${'n'.repeat(80)}…": data_offsets must span the 1 bytes of U8 [1, 1, 1, 1, 1, 1, 1, 1, … 64 in total], got [0, 3]`,
    ),
  );
});

/** A file with U8 tensors at the given offsets. */
const fileOf = (tensors: Record<string, [begin: number, end: number]>, dataBytes: number) => {
  const header = Object.entries(tensors).map(([name, [begin, end]]) => {
    return [name, { dtype: 'U8', shape: [end - begin], data_offsets: [begin, end] }];
  });
  return makeFile({ header: Object.fromEntries(header), data: new Uint8Array(dataBytes) });
};

test.each([
  [
    'is truncated',
    fileOf({ a: [0, 3], w: [3, 6] }, 5),
    'tensor "w": it must end within the 5 bytes of data, got data_offsets [3, 6]; the file is truncated',
  ],
  [
    'has tensors that overlap',
    fileOf({ w: [2, 6], a: [0, 3] }, 6),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 2: they overlap',
  ],
  [
    'has one tensor under two names',
    fileOf({ a: [0, 3], w: [0, 3] }, 3),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 0: they overlap',
  ],
  [
    'has a gap between its tensors',
    fileOf({ a: [0, 3], w: [4, 6] }, 6),
    'tensor "w": it must start at byte 3 of the data, where tensor "a" ends, got byte 4: there is a gap',
  ],
  [
    'has a gap before its tensors',
    fileOf({ w: [1, 6] }, 6),
    'tensor "w": it must start at byte 0 of the data, where the header ends, got byte 1: there is a gap',
  ],
  [
    'has an empty tensor outside the data',
    fileOf({ w: [7, 7] }, 6),
    'tensor "w": it must end within the 6 bytes of data, got data_offsets [7, 7]; the file is truncated',
  ],
  [
    'has bytes after its tensors',
    fileOf({ w: [0, 5] }, 6),
    'the tensors must fill the 6 bytes of data, got 5',
  ],
  ['has data but no tensor', fileOf({}, 6), 'the tensors must fill the 6 bytes of data, got 0'],
])('readHeader() rejects a file that %s', async (_, file, message) => {
  await expect(readHeader(new MemorySource(file))).rejects.toThrow(
    new RangeError(`Cannot read m.safetensors: ${message}`),
  );
});

test('readHeader() accepts empty tensors between others', async () => {
  const file = fileOf({ z: [5, 5], w: [0, 5], a: [0, 0], e: [0, 0] }, 5);
  const { tensors } = await readHeader(new MemorySource(file));
  expect(tensors.map(({ name }) => name)).toEqual(['a', 'e', 'w', 'z']);
});
