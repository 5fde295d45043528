import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochOrder, PromptOrder } from './prompt-order.ts';

const batches = (order: PromptOrder, count: number) =>
  Array.from({ length: count }, (_, step) => [...order.batchAt(step)]);

describe('epochOrder()', () => {
  test('is a permutation that depends only on seed and epoch', () => {
    const count = fc.integer({ min: 1, max: 200 });
    fc.assert(
      fc.property(fc.integer(), fc.nat(), count, (seed, epoch, n) => {
        const order = epochOrder({ seed, epoch, count: n, shuffle: true });
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
        expect(epochOrder({ seed, epoch, count: n, shuffle: true })).toEqual(order);
      }),
    );
  });

  test('differs between epochs and seeds', () => {
    const keys = [0, 1, 2].flatMap((seed) => [0, 1, 2].map((epoch) => ({ seed, epoch })));
    const orders = keys.map((key) => epochOrder({ ...key, count: 50, shuffle: true }).join());
    expect(new Set(orders).size).toBe(9);
  });

  test('is the same on every machine', () => {
    // Computed in Python from the definitions of randomStream() and its shuffle.
    const order = epochOrder({ seed: 42, epoch: 1, count: 8, shuffle: true });
    expect([...order]).toEqual([3, 2, 7, 4, 1, 5, 0, 6]);
  });

  test('keeps the order of the prompts without shuffle', () => {
    const order = epochOrder({ seed: 0, epoch: 3, count: 3, shuffle: false });
    expect(order).toEqual(Int32Array.of(0, 1, 2));
  });
});

describe('PromptOrder', () => {
  test('fills the last batch of an epoch from the start of the epoch', () => {
    const order = new PromptOrder({ seed: 0, count: 5, batchSize: 2, shuffle: false });
    expect(order.stepsPerEpoch).toBe(3);
    expect(batches(order, 4)).toEqual([
      [0, 1],
      [2, 3],
      [4, 0],
      [0, 1],
    ]);
  });

  test('repeats prompts if there are fewer than a batch', () => {
    const order = new PromptOrder({ seed: 0, count: 2, batchSize: 5, shuffle: false });
    expect(order.stepsPerEpoch).toBe(1);
    expect(batches(order, 2)).toEqual([
      [0, 1, 0, 1, 0],
      [0, 1, 0, 1, 0],
    ]);
  });

  test('fills from the order of the same epoch, not the next', () => {
    const options = { seed: 3, count: 5, shuffle: true };
    const order = new PromptOrder({ ...options, batchSize: 4 });
    for (const epoch of [0, 1, 2]) {
      const own = epochOrder({ ...options, epoch });
      expect([...order.batchAt(2 * epoch)]).toEqual([...own.slice(0, 4)]);
      expect([...order.batchAt(2 * epoch + 1)]).toEqual([own[4], ...own.slice(0, 3)]);
    }
  });

  test('uses every prompt once per epoch, except for filling and repeating', () => {
    const size = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(size, size, fc.nat(3), fc.integer(), (count, batchSize, epoch, seed) => {
        const order = new PromptOrder({ seed, count, batchSize, shuffle: true });
        const times = new Int32Array(count);
        for (let i = 0; i < order.stepsPerEpoch; i++) {
          const step = epoch * order.stepsPerEpoch + i;
          const batch = order.batchAt(step);
          expect(order.epochAt(step)).toBe(epoch);
          expect(batch).toHaveLength(batchSize);
          if (count >= batchSize) expect(new Set(batch).size).toBe(batchSize);
          for (const index of batch) times[index]!++;
        }
        const all = order.stepsPerEpoch * batchSize;
        for (const n of times)
          expect([Math.floor(all / count), Math.ceil(all / count)]).toContain(n);
      }),
    );
  });

  test('needs only the step to resume', () => {
    const options = { seed: 5, count: 7, batchSize: 3, shuffle: true };
    const whole = batches(new PromptOrder(options), 12);
    for (const step of [11, 4, 0, 8]) {
      expect([...new PromptOrder(options).batchAt(step)]).toEqual(whole[step]);
    }
    const jumping = new PromptOrder(options);
    expect([11, 0, 4].map((step) => [...jumping.batchAt(step)])).toEqual([
      whole[11],
      whole[0],
      whole[4],
    ]);
  });

  test.each([
    [{ count: 0, batchSize: 2 }, 'count must be a whole number ≥ 1, got 0'],
    [{ count: 3, batchSize: 1.5 }, 'batchSize must be a whole number ≥ 1, got 1.5'],
  ])('rejects %j', (sizes, error) => {
    expect(() => new PromptOrder({ seed: 0, shuffle: true, ...sizes })).toThrow(
      `Cannot order prompts: ${error}`,
    );
  });

  test('rejects a step below 0', () => {
    const order = new PromptOrder({ seed: 0, count: 5, batchSize: 2, shuffle: true });
    expect(() => order.batchAt(-1)).toThrow(
      'Cannot find the prompts of a step: it must be a whole number ≥ 0, got -1',
    );
  });
});
