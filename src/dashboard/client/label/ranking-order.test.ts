import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addResponse, isComplete, moveResponse, noOrder, removeLast } from './ranking-order.ts';

const order = (responses: number[], count = 3) => ({ count, responses });

describe('ranking', () => {
  test('the last remaining response is added automatically', () => {
    expect(addResponse(order([2]), 0)).toEqual(order([2, 0, 1]));
    expect(addResponse(order([], 2), 1)).toEqual(order([1, 0], 2));
  });

  test('a response that is already ranked or does not exist changes nothing', () => {
    expect(addResponse(order([2]), 2)).toEqual(order([2]));
    expect(addResponse(order([2]), 3)).toEqual(order([2]));
  });

  test('removeLast() also removes an automatically added response', () => {
    expect(removeLast(order([2, 0, 1]))).toEqual(order([2]));
    expect(removeLast(order([2]))).toEqual(order([]));
    expect(removeLast(order([]))).toEqual(order([]));
    expect(removeLast(order([1, 0], 2))).toEqual(order([], 2));
  });

  test('moveResponse() swaps neighbours and stops at the ends', () => {
    expect(moveResponse(order([2, 0, 1]), { response: 0, by: -1 })).toEqual(order([0, 2, 1]));
    expect(moveResponse(order([2, 0, 1]), { response: 2, by: -1 })).toEqual(order([2, 0, 1]));
    expect(moveResponse(order([2, 0, 1]), { response: 1, by: 1 })).toEqual(order([2, 0, 1]));
  });

  test('for any keys, an order has each response once and n keys complete it', () => {
    const keys = fc.array(fc.integer({ min: -2, max: 9 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), keys, (count, pressed) => {
        let ranking = noOrder(count);
        for (const key of pressed)
          ranking = key === -2 ? removeLast(ranking) : addResponse(ranking, key);
        expect(new Set(ranking.responses).size).toBe(ranking.responses.length);
        for (let i = 0; i < count; i++) ranking = addResponse(ranking, i);
        expect(isComplete(ranking)).toBe(true);
        expect([...ranking.responses].sort()).toEqual(Array.from({ length: count }, (_, i) => i));
      }),
    );
  });
});
