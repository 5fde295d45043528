import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArrayPool, createTokenPool } from './array-pool.ts';

test('ArrayPool.add() returns equal arrays that later ones do not change', () => {
  fc.assert(
    fc.property(fc.array(fc.int32Array({ maxLength: 6000 }), { maxLength: 12 }), (arrays) => {
      const pool = createTokenPool();
      const copies = arrays.map((array) => pool.add(array));
      expect(copies).toEqual(arrays);
    }),
    { numRuns: 50 },
  );
});

test('ArrayPool.add() keeps 100,000 texts of 100 tokens in 614 buffers', () => {
  const pool = createTokenPool();
  const text = Int32Array.from({ length: 100 }, (_, i) => i);
  const buffers = new Set(Array.from({ length: 100_000 }, () => pool.add(text).buffer));
  // 163 texts fit into 16,384 elements.
  expect(buffers.size).toBe(614);
});

test('ArrayPool.add() does not copy large arrays, and works for bytes', () => {
  const pool = new ArrayPool((length) => new Uint8Array(length));
  const large = new Uint8Array(5000).fill(7);
  expect(pool.add(large)).toBe(large);
  expect([...pool.add(Uint8Array.of(1, 2))]).toEqual([1, 2]);
});
