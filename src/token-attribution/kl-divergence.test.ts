import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type KlEstimator, klDerivative, klDivergence } from './kl-divergence.ts';

const estimators: readonly KlEstimator[] = ['k1', 'k2', 'k3'];

test.each([
  ['k1', Math.LN2, Math.LN2, 1],
  ['k2', Math.LN2, 0.240227, Math.LN2],
  ['k3', Math.LN2, 0.193147, 0.5],
  ['k1', -Math.LN2, -Math.LN2, 1],
  ['k2', -Math.LN2, 0.240227, -Math.LN2],
  ['k3', -Math.LN2, 0.306853, -1],
] as const)(
  'klDivergence() and klDerivative() of %s at %d are %d and %d',
  (estimator, d, kl, slope) => {
    expect(klDivergence(estimator, d)).toBeCloseTo(kl, 6);
    expect(klDerivative(estimator, d)).toBeCloseTo(slope, 6);
  },
);

test.each(estimators)('klDivergence() of %s is 0 between equal policies', (estimator) => {
  expect(klDivergence(estimator, 0)).toBe(0);
});

test.each(estimators)('klDerivative() of %s is the slope of klDivergence()', (estimator) => {
  const h = 1e-4;
  fc.assert(
    fc.property(fc.double({ min: -3, max: 3, noNaN: true }), (d) => {
      const rise = klDivergence(estimator, d + h) - klDivergence(estimator, d - h);
      expect(klDerivative(estimator, d)).toBeCloseTo(rise / (2 * h), 5);
    }),
  );
});

test('klDivergence() of k1 and k3 has the divergence as its mean under the policy', () => {
  const policy = [0.5, 0.25, 0.25];
  const reference = [0.25, 0.25, 0.5];
  // ½ ln 2 + 0 − ¼ ln 2
  const divergence = 0.25 * Math.LN2;
  const mean = (estimator: KlEstimator) =>
    policy.reduce((sum, p, i) => sum + p * klDivergence(estimator, Math.log(p / reference[i]!)), 0);
  expect(mean('k1')).toBeCloseTo(divergence, 12);
  expect(mean('k3')).toBeCloseTo(divergence, 12);
  expect(mean('k2')).toBeCloseTo(0.375 * Math.LN2 ** 2, 12);
});

test('klDivergence() of k3 is accurate for nearly equal policies', () => {
  // d²/2 − d³/6; computing e^(−d) − 1 + d would have an error of half of it.
  expect(klDivergence('k3', 1e-7) / 5e-15).toBeCloseTo(1, 2);
});
