import { describe, expect, test } from 'vitest';
import { gaeAdvantages, returnsOf, rewardToGo, tdErrors } from './gae.ts';

describe('tdErrors()', () => {
  test('matches the worked example', () => {
    const errors = tdErrors(Float32Array.of(1, 2), Float32Array.of(4, 2), {
      offsets: Int32Array.of(0, 2),
      gamma: 0.5,
    });
    expect([...errors]).toEqual([-2, 0]);
  });

  test('ignores the values of the next sequence', () => {
    const errors = tdErrors(Float32Array.of(1, 2, 5), Float32Array.of(4, 2, 100), {
      offsets: Int32Array.of(0, 2, 2, 3),
      gamma: 0.5,
    });
    expect([...errors]).toEqual([-2, 0, -95]);
  });

  test('rejects values whose number differs from the rewards', () => {
    const options = { offsets: Int32Array.of(0, 2), gamma: 1 };
    expect(() => tdErrors(Float32Array.of(1, 2), Float32Array.of(4), options)).toThrow(
      'Cannot compute TD errors: values must have 2 elements, got 1; pass columns of equal length',
    );
  });
});

describe('gaeAdvantages()', () => {
  test('matches the worked example', () => {
    const advantages = gaeAdvantages(Float32Array.of(0, 0, 0.5), {
      offsets: Int32Array.of(0, 3),
      gamma: 1,
      lam: 0.5,
    });
    expect([...advantages]).toEqual([0.125, 0.25, 0.5]);
  });

  test('discounts by γλ and stops at the end of a sequence', () => {
    const advantages = gaeAdvantages(Float32Array.of(1, 4, 8, 8), {
      offsets: Int32Array.of(0, 2, 4),
      gamma: 0.5,
      lam: 0.5,
    });
    expect([...advantages]).toEqual([2, 4, 10, 8]);
  });

  test('equals the TD errors if λ = 0', () => {
    const errors = Float32Array.of(3, -1, 2);
    const advantages = gaeAdvantages(errors, { offsets: Int32Array.of(0, 3), gamma: 1, lam: 0 });
    expect(advantages).toEqual(errors);
  });
});

describe('returnsOf()', () => {
  test('matches the worked example', () => {
    const returns = returnsOf(Float32Array.of(0.125, 0.25, 0.5), Float32Array.of(0.5, 0.5, 0.5));
    expect([...returns]).toEqual([0.625, 0.75, 1]);
  });

  test('rejects values whose number differs from the advantages', () => {
    expect(() => returnsOf(Float32Array.of(1, 2), Float32Array.of(1))).toThrow(
      'Cannot compute returns: values must have 2 elements, got 1',
    );
  });
});

describe('rewardToGo()', () => {
  test('matches the worked example and stops at the end of a sequence', () => {
    const rewards = Float32Array.of(4, 0, 2, 6, 2);
    const returns = rewardToGo(rewards, { offsets: Int32Array.of(0, 3, 5), gamma: 0.5 });
    expect([...returns]).toEqual([4.5, 1, 2, 7, 2]);
  });

  test('rejects rewards whose number differs from the steps', () => {
    const options = { offsets: Int32Array.of(0, 3), gamma: 1 };
    expect(() => rewardToGo(Float32Array.of(1), options)).toThrow(
      'Cannot compute discounted sums: x must have 3 elements, got 1',
    );
  });
});
