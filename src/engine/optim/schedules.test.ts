import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeSchedule, type ScheduleName, scheduleNames } from './schedules.ts';

interface Golden {
  readonly cases: {
    readonly name: ScheduleName;
    readonly warmupSteps: number;
    readonly totalSteps: number;
    readonly factors: number[];
  }[];
}

const fixture = new URL('../../../test/fixtures/optim/schedules.json', import.meta.url);
const golden: Golden = JSON.parse(readFileSync(fixture, 'utf8'));

test.each(golden.cases)(
  "makeSchedule() equals transformers': $name, $warmupSteps of $totalSteps steps",
  ({ name, warmupSteps, totalSteps, factors }) => {
    const schedule = makeSchedule(name, { warmupSteps, totalSteps });
    factors.forEach((factor, step) => {
      expect(schedule(step), `step ${step}`).toBeCloseTo(factor, 12);
    });
  },
);

test('makeSchedule() has a golden for every name', () => {
  expect(new Set(golden.cases.map(({ name }) => name))).toEqual(new Set(scheduleNames));
});

test('makeSchedule() returns the hand-worked numbers', () => {
  const factors = (name: ScheduleName) => {
    const schedule = makeSchedule(name, { warmupSteps: 2, totalSteps: 6 });
    return [0, 1, 2, 3, 4, 5, 6].map((step) => Number(schedule(step).toFixed(3)));
  };
  expect(factors('constant')).toEqual([0, 0.5, 1, 1, 1, 1, 1]);
  expect(factors('linear')).toEqual([0, 0.5, 1, 0.75, 0.5, 0.25, 0]);
  expect(factors('cosine')).toEqual([0, 0.5, 1, 0.854, 0.5, 0.146, 0]);
});

test('makeSchedule() starts at 1 without warm-up', () => {
  for (const name of scheduleNames) expect(makeSchedule(name, { totalSteps: 5 })(0)).toBe(1);
});

test('makeSchedule() stays in [0, 1] and depends only on the step', () => {
  const options = fc.record({ warmupSteps: fc.nat(50), totalSteps: fc.nat(200) });
  fc.assert(
    fc.property(fc.constantFrom(...scheduleNames), options, fc.nat(500), (name, of, step) => {
      const schedule = makeSchedule(name, of);
      const factor = schedule(step);
      expect(factor).toBeGreaterThanOrEqual(0);
      expect(factor).toBeLessThanOrEqual(1);
      schedule(step + 1);
      expect(schedule(step)).toBe(factor);
    }),
  );
});

test('makeSchedule() never rises after warm-up', () => {
  const options = fc.record({
    warmupSteps: fc.nat(50),
    decaySteps: fc.integer({ min: 1, max: 200 }),
  });
  fc.assert(
    fc.property(fc.constantFrom(...scheduleNames), options, fc.nat(199), (name, of, at) => {
      const totalSteps = of.warmupSteps + of.decaySteps;
      const schedule = makeSchedule(name, { warmupSteps: of.warmupSteps, totalSteps });
      const step = of.warmupSteps + (at % of.decaySteps);
      expect(schedule(step + 1)).toBeLessThanOrEqual(schedule(step));
    }),
  );
});

test('makeSchedule() rejects step counts that are not whole numbers', () => {
  expect(() => makeSchedule('linear', { totalSteps: 1.5 })).toThrow(
    'Cannot create a schedule: totalSteps must be a whole number ≥ 0, got 1.5',
  );
  expect(() => makeSchedule('linear', { warmupSteps: -1, totalSteps: 5 })).toThrow(
    'Cannot create a schedule: warmupSteps must be a whole number ≥ 0, got -1',
  );
});
