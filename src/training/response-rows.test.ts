import { describe, expect, it } from 'vitest';
import { tensor } from '../engine/runtime/index.ts';
import { putRows, stateRows } from './response-rows.ts';

const sequences = [{ promptTokens: [1, 2, 3] }, { promptTokens: [4, 5] }];
const batch = { rows: [Int32Array.of(0, 1, 2, 3, 4), Int32Array.of(5, 6, 7)] };

describe('stateRows()', () => {
  it('finds the state before each response token at the token before it', () => {
    const stepOffsets = Int32Array.of(0, 2, 3);
    expect([...stateRows(batch, { sequences, stepOffsets })]).toEqual([2, 3, 6]);
  });

  it('finds the state after the last token where there is a step for it', () => {
    const stepOffsets = Int32Array.of(0, 3, 5);
    expect([...stateRows(batch, { sequences, stepOffsets })]).toEqual([2, 3, 4, 6, 7]);
  });
});

describe('putRows()', () => {
  it('adds up what stands for one row', () => {
    const part = tensor(Float32Array.of(1, 2, 3, 4), [2, 2]);
    expect([...putRows(part, [1, 1], 2).data]).toEqual([0, 0, 4, 6]);
  });

  it('leaves the other rows at zero', () => {
    const part = tensor(Float32Array.of(1, 2, 3, 4), [2, 2]);
    const { data, shape } = putRows(part, [2, 0], 4);
    expect(shape).toEqual([4, 2]);
    expect([...data]).toEqual([3, 4, 0, 0, 1, 2, 0, 0]);
  });
});
