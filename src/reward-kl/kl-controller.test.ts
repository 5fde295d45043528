import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KlController, type KlControllerConfig } from './kl-controller.ts';

const adaptive: KlControllerConfig = {
  klController: 'adaptive',
  klCoef: 0.1,
  klTarget: 6,
  klHorizon: 100,
};

describe('KlController', () => {
  test.each([
    [6.6, 10, 0.101],
    [6, 10, 0.1],
    [60, 10, 0.102],
    [0, 10, 0.098],
    [-3, 10, 0.098],
    [60, 100, 0.12],
    [60, 1000, 0.12],
  ])('an adaptive β of 0.1 after a KL of %d over %d responses is %d', (kl, n, expected) => {
    const controller = new KlController(adaptive);
    controller.update(kl, n);
    expect(controller.coefficient).toBeCloseTo(expected, 12);
  });

  test('a fixed β ignores the KL and a saved state', () => {
    const controller = new KlController({ ...adaptive, klController: 'fixed' });
    controller.update(60, 10);
    controller.update(Number.NaN, 10);
    controller.restore({ coefficient: 0.7 });
    expect(controller.coefficient).toBe(0.1);
  });

  test('an adaptive β stays positive and finite for any KL', () => {
    const step = fc.tuple(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      fc.integer({ min: 1, max: 5000 }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const controller = new KlController(adaptive);
        for (const [kl, n] of steps) controller.update(kl, n);
        expect(controller.coefficient).toBeGreaterThan(0);
        expect(controller.coefficient).toBeLessThan(Infinity);
      }),
    );
  });

  test('continues exactly from a state saved as JSON', () => {
    const [first, second] = [new KlController(adaptive), new KlController(adaptive)];
    first.update(7.123, 3);
    second.restore(JSON.parse(JSON.stringify(first.state())));
    for (const controller of [first, second]) controller.update(5.5, 3);
    expect(second.coefficient).toBe(first.coefficient);
    expect(second.coefficient).not.toBe(0.1);
  });

  test.each([
    [Number.NaN, 4],
    [Infinity, 4],
    [1, 0],
  ])('rejects a KL of %d over %d responses', (kl, n) => {
    expect(() => new KlController(adaptive).update(kl, n)).toThrow(
      `Cannot update the KL coefficient: the KL must be finite and of at least one response, got ${kl} of ${n}`,
    );
  });

  test.each([-1, Number.NaN])('rejects a saved β of %d', (coefficient) => {
    expect(() => new KlController(adaptive).restore({ coefficient })).toThrow(
      `Cannot restore the KL coefficient: it must be a number ≥ 0, got ${coefficient}`,
    );
  });
});
