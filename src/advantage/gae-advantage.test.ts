import { expect, test } from 'vitest';
import { gaeAdvantages } from './gae-advantage.ts';

test('gaeAdvantages() gives the hand-worked numbers', () => {
  const advantages = gaeAdvantages(Float32Array.of(0, 0, 0.5), {
    offsets: Int32Array.of(0, 3),
    gamma: 1,
    lam: 0.5,
  });
  expect([...advantages]).toEqual([0.125, 0.25, 0.5]);
});

test('gaeAdvantages() discounts by γ and λ together, and stops at the end of a sequence', () => {
  const advantages = gaeAdvantages(Float32Array.of(1, 4, 8, 8), {
    offsets: Int32Array.of(0, 2, 4),
    gamma: 0.5,
    lam: 0.5,
  });
  expect([...advantages]).toEqual([2, 4, 10, 8]);
});

test('gaeAdvantages() with λ = 0 is the TD errors', () => {
  const errors = Float32Array.of(3, -1, 2);
  const advantages = gaeAdvantages(errors, { offsets: Int32Array.of(0, 3), gamma: 1, lam: 0 });
  expect(advantages).toEqual(errors);
});
