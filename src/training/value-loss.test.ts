import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { readTrlGolden, trlCases } from '../../test/helpers/trl-golden.ts';
import { addSums } from './policy-loss.ts';
import {
  ValueLoss,
  type ValueLossConfig,
  type ValueLossInput,
  valueMetrics,
} from './value-loss.ts';

const makeLoss = (config: Partial<ValueLossConfig> = {}) =>
  new ValueLoss({ valueLoss: 'mse', valueClip: 0.5, valueLossCoef: 1, ...config });

const pair: ValueLossInput = {
  newValues: Float32Array.of(1, 3),
  oldValues: Float32Array.of(2, 3),
  returns: Float32Array.of(0, 1),
  stepCount: 2,
};

describe('evaluate()', () => {
  test('evaluate() returns the hand-worked numbers of mse', () => {
    const { loss, dValues, sums } = makeLoss({ valueLossCoef: 0.5 }).evaluate(pair);
    expect(loss).toBe(2.5);
    expect([...dValues]).toEqual([0.5, 1]);
    expect(sums.clipped).toBe(0);
  });

  test('evaluate() returns the hand-worked numbers of the clipped form', () => {
    const { loss, dValues, sums } = makeLoss({ valueLoss: 'clipped' }).evaluate(pair);
    expect(loss).toBe(1.5625);
    expect([...dValues]).toEqual([0, 1]);
    expect(valueMetrics(sums, 2)).toMatchObject({
      'loss/value_avg': 1.5625,
      'val/clipfrac_avg': 0.5,
    });
  });

  test('a value that moved too far away from its return still has a gradient', () => {
    const input = { ...pair, newValues: Float32Array.of(3, 3), stepCount: 4 };
    const { loss, dValues } = makeLoss({ valueLoss: 'clipped' }).evaluate(input);
    expect(loss).toBe((0.5 * (9 + 4)) / 4);
    expect([...dValues]).toEqual([0.75, 0.5]);
  });

  test('the coefficient scales the gradient but not the loss', () => {
    const plain = makeLoss().evaluate(pair);
    const scaled = makeLoss({ valueLossCoef: 0.25 }).evaluate(pair);
    expect(scaled.dValues).toEqual(plain.dValues.map((d) => 0.25 * d));
    expect({ loss: scaled.loss, sums: scaled.sums }).toEqual({
      loss: plain.loss,
      sums: plain.sums,
    });
  });

  test('evaluate() rejects columns of different lengths and parts larger than the whole', () => {
    expect(() => makeLoss().evaluate({ ...pair, returns: Float32Array.of(1) })).toThrow(
      'Cannot compute the value loss: returns must have 2 elements, got 1',
    );
    expect(() => makeLoss().evaluate({ ...pair, stepCount: 1 })).toThrow(
      'Internal: 2 values are not part of 1 steps',
    );
  });
});

describe('computeLoss()', () => {
  test('computeLoss() is the plain mean of squares with any config', () => {
    expect(makeLoss().computeLoss([1, 3], [0, 1])).toBe(2.5);
    expect(makeLoss({ valueLoss: 'clipped' }).computeLoss([1, 3], [0, 1])).toBe(2.5);
  });

  test('computeLoss() rejects empty arrays', () => {
    expect(() => makeLoss().computeLoss([], [])).toThrow(
      'Cannot compute the value loss: predictedValues must have at least 1 element, got 0',
    );
  });
});

test('valueMetrics() returns the hand-worked numbers', () => {
  const newValues = Float32Array.of(1, 3);
  const returns = Float32Array.of(0, 4);
  const { sums } = makeLoss().evaluate({ ...pair, newValues, returns });
  expect(valueMetrics(sums, 2)).toEqual({
    'loss/value_avg': 1,
    'val/clipfrac_avg': 0,
    'ppo/val/vpred': 2,
    'ppo/val/error': 1,
  });
});

/** Multiples of 1/64, which float32 represents exactly and which avoid the kinks of a clip at 0.2. */
const grid = fc.integer({ min: -128, max: 128 }).map((k) => k / 64);
const steps = fc.array(fc.tuple(grid, grid, grid), { minLength: 1, maxLength: 8 });
const inputOf = (rows: readonly (readonly number[])[]): ValueLossInput => {
  const column = (k: number) => Float32Array.from(rows, (row) => row[k]!);
  return {
    newValues: column(0),
    oldValues: column(1),
    returns: column(2),
    stepCount: rows.length,
  };
};

describe.each(['mse', 'clipped'] as const)('%s', (form) => {
  const valueLoss = makeLoss({ valueLoss: form, valueClip: 0.2 });

  test('dValues equal finite differences of the loss', () => {
    const h = 2 ** -12;
    fc.assert(
      fc.property(steps, (rows) => {
        const input = inputOf(rows);
        const lossAt = (newValues: Float32Array) =>
          valueLoss.evaluate({ ...input, newValues }).loss;
        const expected = input.newValues.map((v, i, values) => {
          const rise = lossAt(values.with(i, v + h)) - lossAt(values.with(i, v - h));
          return rise / (2 * h);
        });
        const { dValues } = valueLoss.evaluate(input);
        expectClose(dValues, { expected, within: 1e-6, label: 'dValues' });
      }),
    );
  });

  test('the slopes are the gradient of the loss for any new values', () => {
    fc.assert(
      fc.property(steps, (rows) => {
        const input = inputOf(rows);
        const { factor, returns, lows, highs } = valueLoss.valueSlopes(input);
        const actual = input.newValues.map((v, t) =>
          lows[t]! < v && v < highs[t]! ? 0 : factor * (v - returns[t]!),
        );
        const expected = valueLoss.evaluate(input).dValues;
        expectClose(actual, { expected, within: 1e-6, label: 'dValues' });
      }),
    );
  });

  test('micro-batches add up to the whole', () => {
    fc.assert(
      fc.property(steps, fc.nat(8), (rows, cut) => {
        const whole = valueLoss.evaluate(inputOf(rows));
        const parts = [rows.slice(0, cut), rows.slice(cut)].map((part) =>
          valueLoss.evaluate({ ...inputOf(part), stepCount: rows.length }),
        );
        expect(parts.flatMap(({ dValues }) => [...dValues])).toEqual([...whole.dValues]);
        expect(parts[0]!.loss + parts[1]!.loss).toBeCloseTo(whole.loss, 10);
        const sums = Object.values(addSums(parts[0]!.sums, parts[1]!.sums));
        const expected = Object.values(whole.sums);
        expectClose(sums, { expected, within: 1e-10, label: 'sums' });
      }),
    );
  });
});

test.each(trlCases)("evaluate() matches TRL's value loss and gradient: %s", (name) => {
  const { hyperparameters, inputs, outputs, steps } = readTrlGolden(name);
  const newValues = steps(inputs.new_values);
  const stepCount = newValues.length;
  const valueLoss = makeLoss({ valueLoss: 'clipped', valueClip: hyperparameters.cliprange_value });
  const { loss, dValues, sums } = valueLoss.evaluate({
    newValues,
    oldValues: steps(inputs.values),
    returns: steps(outputs.returns),
    stepCount,
  });
  const metrics = valueMetrics(sums, stepCount);
  expectClose([loss, metrics['loss/value_avg'], metrics['val/clipfrac_avg']], {
    expected: [outputs.vf_loss, outputs.vf_loss, outputs.vf_clipfrac],
    within: 1e-5,
    label: 'vf_loss, loss/value_avg, val/clipfrac_avg',
  });
  const expected = steps(outputs.grad_vf_loss_new_values);
  expectClose(dValues, { expected, within: 1e-5, label: 'dValues' });
});
