import { describe, expect, test } from 'vitest';
import { decodeModel } from '../../../test/helpers/runtime-onnx-decoder.ts';
import { encodeModel, type OnnxModel } from './model-proto.ts';

const empty: OnnxModel = { name: 'g', nodes: [], inputs: [], outputs: [], initializers: [] };
const encode = (parts: Partial<OnnxModel>) => decodeModel(encodeModel({ ...empty, ...parts }));

describe('encodeModel()', () => {
  test('writes versions and operator sets', () => {
    const { irVersion, producer, name, opsets } = encode({});
    expect({ irVersion, producer, name, opsets }).toEqual({
      irVersion: 10,
      producer: 'proximal',
      name: 'g',
      opsets: { '': 21, 'com.microsoft': 1 },
    });
  });

  test('writes a node with each kind of attribute', () => {
    const { nodes } = encode({
      nodes: [
        {
          name: 'n',
          opType: 'ScatterElements',
          domain: 'com.microsoft',
          inputs: ['a', '', 'c'],
          outputs: ['', 'y'],
          attributes: { alpha: 0.5, whole: 2, axis: -1n, reduction: 'add', perm: [2, 0, -1] },
        },
      ],
    });
    expect(nodes).toEqual([
      {
        name: 'n',
        opType: 'ScatterElements',
        domain: 'com.microsoft',
        inputs: ['a', '', 'c'],
        outputs: ['', 'y'],
        attributes: {
          alpha: { float: 0.5 },
          whole: { float: 2 },
          axis: { int: -1 },
          reduction: { string: 'add' },
          perm: { ints: [2, 0, -1] },
        },
      },
    ]);
  });

  test('writes numeric and symbolic sizes of inputs and outputs', () => {
    const { inputs, outputs } = encode({
      inputs: [
        { name: 'x', dtype: 'float32', dims: ['B', 'P+T', 64] },
        { name: 'i', dtype: 'int32', dims: [] },
      ],
      outputs: [{ name: 'y', dtype: 'bool', dims: [0, 'B*T'] }],
    });
    expect(inputs).toEqual([
      { name: 'x', dataType: 1, dims: ['B', 'P+T', 64] },
      { name: 'i', dataType: 6, dims: [] },
    ]);
    expect(outputs).toEqual([{ name: 'y', dataType: 9, dims: [0, 'B*T'] }]);
  });

  test.each([
    ['float32', 1],
    ['uint8', 2],
    ['int8', 3],
    ['int32', 6],
    ['int64', 7],
    ['bool', 9],
    ['float16', 10],
    ['bfloat16', 16],
  ] as const)('writes %s as data type %i of onnx.proto', (dtype, dataType) => {
    const { inputs } = encode({ inputs: [{ name: 'x', dtype, dims: [] }] });
    expect(inputs[0]?.dataType).toBe(dataType);
  });

  test('writes a tensor with its bytes', () => {
    const data = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const { initializers } = encode({
      initializers: [{ name: 'w', dtype: 'float32', dims: [2, 1], data }],
    });
    expect(initializers).toEqual([{ name: 'w', dataType: 1, dims: [2, 1], raw: data }]);
  });

  test('writes the location of an external tensor, also above 4 GB', () => {
    const data = { location: 'model.safetensors', offset: 5_000_000_123, length: 8 };
    const { initializers } = encode({
      initializers: [{ name: 'w', dtype: 'float16', dims: [4], data }],
    });
    expect(initializers).toEqual([
      {
        name: 'w',
        dataType: 10,
        dims: [4],
        external: { location: 'model.safetensors', offset: '5000000123', length: '8' },
      },
    ]);
  });
});
