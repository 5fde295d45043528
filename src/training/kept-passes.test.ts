import { describe, expect, it } from 'vitest';
import { PackedBatch } from '../models/index.ts';
import { KeptPasses } from './kept-passes.ts';

describe('KeptPasses', () => {
  it('gives a pass once, to whoever runs the same tokens in the same rows', () => {
    const kept = new KeptPasses<string>();
    kept.keep(new PackedBatch([[1, 2, 3], [4]]), 'a');
    expect(
      kept.take(
        new PackedBatch([
          [1, 2],
          [3, 4],
        ]),
      ),
    ).toBeUndefined();
    expect(kept.take(new PackedBatch([[1, 2, 3], [5]]))).toBeUndefined();
    expect(kept.take(new PackedBatch([[1, 2, 3], [4]]))).toBe('a');
    expect(kept.take(new PackedBatch([[1, 2, 3], [4]]))).toBeUndefined();
  });

  it('gives none after the weights have changed', () => {
    const kept = new KeptPasses<string>();
    kept.keep(new PackedBatch([[1]]), 'a');
    kept.clear();
    expect(kept.take(new PackedBatch([[1]]))).toBeUndefined();
  });
});
