import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPlace, isComplete, movePlace, noOrder, takeBack } from './ranking-order.ts';

const order = (places: number[], count = 3) => ({ count, places });

describe('ranking', () => {
  test('the last response of all follows by itself', () => {
    expect(addPlace(order([2]), 0)).toEqual(order([2, 0, 1]));
    expect(addPlace(order([], 2), 1)).toEqual(order([1, 0], 2));
  });

  test('a response that is chosen or not there changes nothing', () => {
    expect(addPlace(order([2]), 2)).toEqual(order([2]));
    expect(addPlace(order([2]), 3)).toEqual(order([2]));
  });

  test('takeBack() undoes a choice with what followed it', () => {
    expect(takeBack(order([2, 0, 1]))).toEqual(order([2]));
    expect(takeBack(order([2]))).toEqual(order([]));
    expect(takeBack(order([]))).toEqual(order([]));
    expect(takeBack(order([1, 0], 2))).toEqual(order([], 2));
  });

  test('movePlace() swaps neighbours and stops at the ends', () => {
    expect(movePlace(order([2, 0, 1]), { place: 0, by: -1 })).toEqual(order([0, 2, 1]));
    expect(movePlace(order([2, 0, 1]), { place: 2, by: -1 })).toEqual(order([2, 0, 1]));
    expect(movePlace(order([2, 0, 1]), { place: 1, by: 1 })).toEqual(order([2, 0, 1]));
  });

  test('whatever keys are pressed, an order holds each place once and n keys complete it', () => {
    const keys = fc.array(fc.integer({ min: -2, max: 9 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), keys, (count, pressed) => {
        let made = noOrder(count);
        for (const key of pressed) made = key === -2 ? takeBack(made) : addPlace(made, key);
        expect(new Set(made.places).size).toBe(made.places.length);
        for (let place = 0; place < count; place++) made = addPlace(made, place);
        expect(isComplete(made)).toBe(true);
        expect([...made.places].sort()).toEqual(Array.from({ length: count }, (_, i) => i));
      }),
    );
  });
});
