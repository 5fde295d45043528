import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBlob, encodeBlob, hashBytes } from './blob.ts';

describe('Blobs', () => {
  it('restore every value exactly', async () => {
    const leaf = fc.oneof(
      fc.double(),
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.float32Array(),
      fc.int32Array(),
      fc.uint8Array(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.string({ minLength: 1 }), tie('tree'), {
          maxKeys: 4,
          noNullPrototype: true,
        }),
      ),
    }));
    const isOurs = (value: unknown) => /"(\$array|\$number|__proto__)"/.test(JSON.stringify(value));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        fc.pre(!isOurs(value));
        expect(await decodeBlob(encodeBlob(value))).toEqual(value);
      }),
    );
  });

  it('keep NaN, infinities and the sign of zero', async () => {
    const numbers = [Number.NaN, Infinity, -Infinity, -0, 0];
    const decoded = (await decodeBlob(encodeBlob(numbers))) as number[];
    for (const [i, number] of numbers.entries()) expect(decoded[i]).toBe(number);
  });

  it('store an array once and return one array for all its places', async () => {
    const prompt = Int32Array.of(1, 2, 3);
    const bytes = encodeBlob([{ prompt }, { prompt }]);
    const [a, b] = (await decodeBlob(bytes)) as { prompt: Int32Array }[];
    expect(a!.prompt).toBe(b!.prompt);
    expect(bytes.byteLength).toBeLessThan(
      encodeBlob([{ prompt }, { prompt: prompt.slice() }]).byteLength,
    );
  });

  it('are the same bytes for the same value, and safetensors files', () => {
    const value = { a: 1, weights: Float32Array.of(1, 2) };
    expect(hashBytes(encodeBlob(value))).toBe(hashBytes(encodeBlob(structuredClone(value))));
    const bytes = encodeBlob(value);
    const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
    expect(header['array.0']).toEqual({ dtype: 'F32', shape: [2], data_offsets: [0, 8] });
  });

  it('reject other arrays, damaged bytes and missing arrays', async () => {
    expect(() => encodeBlob({ a: new Float64Array(1) })).toThrow(
      'arrays must be Float32Array, Int32Array or Uint8Array, got Float64Array',
    );
    await expect(decodeBlob(Buffer.from('no blob at all'))).rejects.toThrow('Cannot read a blob');
    const broken = encodeBlob({ a: 1 }).toString('latin1').replace('{\\"a\\":1}', '{\\"a\\":>}');
    await expect(decodeBlob(Buffer.from(broken, 'latin1'))).rejects.toThrow(
      'Cannot decode a blob: its value must be JSON (',
    );
    const forged = encodeBlob({ a: 1 })
      .toString('latin1')
      .replace('{\\"a\\":1}', '{\\"$array\\":7}');
    const padding = forged.length - encodeBlob({ a: 1 }).length;
    const shorter = forged.replace(' '.repeat(padding), '');
    await expect(decodeBlob(Buffer.from(shorter, 'latin1'))).rejects.toThrow();
  });
});
