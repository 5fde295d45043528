import { describe, expect, test } from 'vitest';
import { tensor } from './tensor.ts';

describe('tensor()', () => {
  test('takes the dtype from the array', () => {
    expect(tensor(new Float32Array(2), [2]).dtype).toBe('float32');
    expect(tensor(new Int32Array(2), [2]).dtype).toBe('int32');
    expect(tensor(new Uint8Array(2), [2]).dtype).toBe('bool');
    expect(tensor(new Uint16Array(2), [2]).dtype).toBe('float16');
  });

  test('wraps the array without a copy', () => {
    const data = Float32Array.of(1, 2);
    expect(tensor(data, [2, 1]).data).toBe(data);
  });

  test('may be a scalar or empty', () => {
    expect(tensor(Float32Array.of(7), [])).toEqual({
      dtype: 'float32',
      shape: [],
      data: Float32Array.of(7),
    });
    expect(tensor(new Int32Array(), [3, 0]).shape).toEqual([3, 0]);
  });

  test('rejects an array of the wrong size', () => {
    expect(() => tensor(new Float32Array(5), [2, 3])).toThrow(
      new RangeError('Cannot create a tensor of shape [2,3]: it must have 6 elements, got 5'),
    );
  });
});
