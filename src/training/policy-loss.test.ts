import { describe, expect, it, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import {
  clippedLoss,
  PolicyLoss,
  type PolicyLossConfig,
  type PolicyLossInput,
  policyMetrics,
  policyRatio,
  rolloutMismatch,
  rolloutWeights,
} from './policy-loss.ts';

const defaults = resolvePPOConfig();
const makeLoss = (config: Partial<PolicyLossConfig> = {}) =>
  new PolicyLoss({ ...defaults, ...config });

const logs = (...ratios: number[]) => Float32Array.from(ratios, Math.log);
const zeros = (length: number) => new Float32Array(length);

/** One sequence of three tokens whose old logprobs are 0. */
const three: PolicyLossInput = {
  offsets: Int32Array.of(0, 3),
  newLogprobs: logs(1.5, 0.5, 1),
  oldLogprobs: zeros(3),
  advantages: Float32Array.of(1, 1, -1),
  entropies: Float32Array.of(1, 2, 3),
  refLogprobs: zeros(3),
  klCoef: 0.5,
  tokenCount: 3,
  sequenceCount: 1,
};

describe('evaluate()', () => {
  test('evaluate() returns the hand-worked loss, gradient and means', () => {
    const { loss, dLogprobs, dEntropies, sums } = makeLoss().evaluate(three);
    expect(loss).toBeCloseTo(-0.7 / 3, 6);
    expectClose(dLogprobs, { expected: [0, -0.5 / 3, 1 / 3], within: 1e-6, label: 'dLogprobs' });
    expect(dEntropies).toBeUndefined();
    expect(policyMetrics(sums, 3)).toEqual({
      'loss/policy_avg': expect.closeTo(-0.7 / 3, 6),
      'loss/kl_avg': 0,
      // ½(ln² 1.5 + ln² 0.5)/3
      'policy/approxkl_avg': expect.closeTo(0.107475, 5),
      'policy/clipfrac_avg': expect.closeTo(1 / 3, 12),
      'policy/entropy_avg': 2,
      'val/ratio': expect.closeTo(1, 6),
      // (2.25 + 0.25 + 1)/3 − 1
      'val/ratio_var': expect.closeTo(0.166667, 5),
    });
  });

  test('evaluate() weighs the loss of each token', () => {
    const weights = Float32Array.of(2, 1, 0.5);
    const { loss, dLogprobs } = makeLoss().evaluate({ ...three, weights });
    // (2·(−1.2) + 1·(−0.5) + 0.5·1)/3
    expect(loss).toBeCloseTo(-0.8, 6);
    expectClose(dLogprobs, { expected: [0, -0.5 / 3, 0.5 / 3], within: 1e-6, label: 'dLogprobs' });
  });

  test('evaluate() divides by the tokens of the whole step', () => {
    const { loss, dLogprobs } = makeLoss().evaluate({ ...three, tokenCount: 6 });
    expect(loss).toBeCloseTo(-0.7 / 6, 6);
    expect(dLogprobs[2]).toBeCloseTo(1 / 6, 6);
  });

  test('the entropy bonus lowers the loss by entropyCoef · mean H', () => {
    const { loss, dEntropies } = makeLoss({ entropyCoef: 0.3 }).evaluate(three);
    expect(loss).toBeCloseTo(-0.7 / 3 - 0.6, 6);
    expectClose(dEntropies!, { expected: [-0.1, -0.1, -0.1], within: 1e-7, label: 'dEntropies' });
  });

  // d = ln [1.5, 0.5, 1] against the reference, β = ½: terms ½·KL/3, slopes ½·KL′/3.
  test.each([
    ['k1', Math.log(0.75), [1, 1, 1]],
    ['k2', 0.322426, [Math.log(1.5), Math.log(0.5), 0]],
    ['k3', 1 / 1.5 + 2 - 2 + Math.log(0.75), [1 - 1 / 1.5, -1, 0]],
  ] as const)('the KL as a loss term by %s adds β · mean KL', (klEstimator, kl, slopes) => {
    const plain = makeLoss().evaluate(three);
    const { loss, dLogprobs, sums } = makeLoss({ klPlacement: 'loss', klEstimator }).evaluate(
      three,
    );
    expect(loss - plain.loss).toBeCloseTo((0.5 * kl) / 3, 6);
    expect(policyMetrics(sums, 3)['loss/kl_avg']).toBeCloseTo((0.5 * kl) / 3, 6);
    expect(sums.policyLoss).toBe(plain.sums.policyLoss);
    const expected = slopes.map((slope, t) => plain.dLogprobs[t]! + (0.5 * slope) / 3);
    expectClose(dLogprobs, { expected, within: 1e-6, label: 'dLogprobs' });
  });

  test('a log-ratio beyond ±20 has no gradient', () => {
    const input = {
      ...three,
      newLogprobs: Float32Array.of(-30, 0, 30),
      advantages: Float32Array.of(1, 1, -1),
    };
    const { dLogprobs, loss } = makeLoss().evaluate(input);
    expectClose(dLogprobs, { expected: [0, -1 / 3, 0], within: 1e-7, label: 'dLogprobs' });
    expect(loss).toBeCloseTo((Math.exp(20) - 1) / 3, 3);
  });

  test('before the first update ratio is 1, approxKL is 0 and nothing is clipped', () => {
    const { sums } = makeLoss().evaluate({ ...three, newLogprobs: three.oldLogprobs });
    expect(policyMetrics(sums, 3)).toMatchObject({
      'val/ratio': 1,
      'val/ratio_var': 0,
      'policy/approxkl_avg': 0,
      'policy/clipfrac_avg': 0,
    });
  });

  test('evaluate() rejects columns of different lengths and parts larger than the whole', () => {
    const loss = makeLoss();
    expect(() => loss.evaluate({ ...three, entropies: zeros(2) })).toThrow(
      'Cannot compute the policy loss: entropies must have 3 elements, got 2',
    );
    expect(() => loss.evaluate({ ...three, advantages: zeros(4) })).toThrow(
      'Cannot compute the policy loss: advantages must have 3 elements, got 4',
    );
    expect(() => loss.evaluate({ ...three, tokenCount: 2 })).toThrow(
      'Internal: 3 logprobs with offsets to 3 are not part of 2 tokens in 1 sequences',
    );
  });
});

describe('ratios of sequences', () => {
  const pair: PolicyLossInput = {
    ...three,
    offsets: Int32Array.of(0, 2),
    newLogprobs: logs(1.21, 1),
    oldLogprobs: zeros(2),
    advantages: Float32Array.of(1, 3),
    entropies: zeros(2),
    refLogprobs: zeros(2),
    tokenCount: 2,
  };

  test('evaluate() returns the hand-worked numbers of one sequence', () => {
    const { loss, dLogprobs, sums } = makeLoss({ ratioLevel: 'sequence' }).evaluate(pair);
    expect(loss).toBeCloseTo(-2.2, 6);
    expectClose(dLogprobs, { expected: [-1.1, -1.1], within: 1e-6, label: 'dLogprobs' });
    expect(policyMetrics(sums, 2)).toMatchObject({
      'loss/policy_avg': expect.closeTo(-2.2, 6),
      'val/ratio': expect.closeTo(1.1, 6),
      'val/ratio_var': expect.closeTo(0, 6),
    });
  });

  test('all sequences have the same weight, independent of their lengths', () => {
    const input = {
      ...three,
      offsets: Int32Array.of(0, 2, 3),
      newLogprobs: zeros(3),
      advantages: Float32Array.of(1, 3, 8),
      sequenceCount: 2,
    };
    const { loss, dLogprobs, sums } = makeLoss({ ratioLevel: 'sequence' }).evaluate(input);
    expect(loss).toBeCloseTo(-(2 + 8) / 2, 12);
    expect(policyMetrics(sums, 3)['loss/policy_avg']).toBeCloseTo(loss, 12);
    expect([...dLogprobs]).toEqual([-0.5, -0.5, -4]);
  });
});

describe('computeLoss()', () => {
  const columns = [logs(1.5, 0.5, 1), zeros(3), Float32Array.of(1, 1, -1)] as const;

  test('computeLoss() returns the hand-worked number', () => {
    expect(makeLoss().computeLoss(...columns)).toBeCloseTo(-0.233333, 6);
    expect(makeLoss().computeLoss([0, 0], [0, 0], [1, 2])).toBe(-1.5);
  });

  test('computeLoss() accepts a different ε below and above 1', () => {
    const loss = makeLoss({ clipEpsilon: 0.9, clipEpsilonHigh: 0.4 });
    expect(loss.computeLoss(...columns)).toBeCloseTo(-(1.4 + 0.5 - 1) / 3, 6);
    expect(loss.computeLoss(...columns, 0.3)).toBeCloseTo(-(1.3 + 0.5 - 1) / 3, 6);
    expect(loss.computeLoss([Math.log(0.5)], [0], [-1], 0.3)).toBeCloseTo(0.7, 6);
  });

  test('computeLoss() rejects empty arrays', () => {
    expect(() => makeLoss().computeLoss([], [], [])).toThrow(
      'Cannot compute the policy loss: newLogprobs must have at least 1 element, got 0',
    );
  });
});

test('policyRatio() returns the hand-worked numbers', () => {
  expect(policyRatio(0)).toEqual({ ratio: 1, slope: 1 });
  const { ratio, slope } = policyRatio(Math.log(3));
  expect([ratio, slope]).toEqual([expect.closeTo(3, 12), expect.closeTo(3, 12)]);
});

test('policyRatio() is clipped to e^±20, without a slope', () => {
  expect(policyRatio(21)).toEqual({ ratio: Math.exp(20), slope: 0 });
  expect(policyRatio(-1000)).toEqual({ ratio: Math.exp(-20), slope: 0 });
  expect(policyRatio(20)).toEqual({ ratio: Math.exp(20), slope: Math.exp(20) });
});

test.each([
  // Above the range: clipped if that increases the loss.
  { ratio: 1.5, advantage: 1, loss: -1.2, slope: 0, clipped: true },
  { ratio: 1.5, advantage: -1, loss: 1.5, slope: 1, clipped: false },
  // Below the range.
  { ratio: 0.5, advantage: 1, loss: -0.5, slope: -1, clipped: false },
  { ratio: 0.5, advantage: -1, loss: 0.8, slope: 0, clipped: true },
  // Within.
  { ratio: 1.1, advantage: 2, loss: -2.2, slope: -2, clipped: false },
  { ratio: 5, advantage: -1, loss: 5, slope: 1, clipped: false },
])('clippedLoss() with ε = 0.2: %j', ({ ratio, advantage, loss, slope, clipped }) => {
  const range = { low: 0.2, high: 0.2, dual: undefined };
  expect(clippedLoss(ratio, advantage, range)).toEqual({
    loss: expect.closeTo(loss, 12),
    slope,
    clipped,
  });
});

test('clippedLoss() has a separate ε above 1', () => {
  const range = { low: 0.2, high: 0.4, dual: undefined };
  expect(clippedLoss(1.3, 1, range)).toEqual({ loss: -1.3, slope: -1, clipped: false });
  expect(clippedLoss(1.5, 1, range)).toEqual({ loss: -1.4, slope: 0, clipped: true });
  expect(clippedLoss(0.7, -1, range)).toEqual({ loss: 0.8, slope: 0, clipped: true });
});

test('clippedLoss() with dual clip bounds only the loss of negative advantages', () => {
  const range = { low: 0.2, high: 0.2, dual: 3 };
  expect(clippedLoss(5, -1, range)).toEqual({ loss: 3, slope: 0, clipped: false });
  expect(clippedLoss(2, -1, range)).toEqual({ loss: 2, slope: 1, clipped: false });
  expect(clippedLoss(0.5, -1, range)).toEqual({ loss: 0.8, slope: 0, clipped: true });
  expect(clippedLoss(5, 1, range)).toEqual({ loss: -1.2, slope: 0, clipped: true });
  expect(clippedLoss(1.1, 1, range)).toEqual({ loss: -1.1, slope: -1, clipped: false });
});

const samplingLogprobs = Float32Array.of(-1, -2, -3);
const logprobs = Float32Array.of(-1 + Math.log(0.5), -2, -3 + Math.log(4));

describe('rolloutWeights()', () => {
  it('are π_old/π_sampled, truncated at the cap', () => {
    const weights = rolloutWeights({ logprobs, samplingLogprobs }, 2)!;
    for (const [t, expected] of [0.5, 1, 2].entries()) expect(weights[t]).toBeCloseTo(expected, 6);
  });

  it('are undefined if tokens were sampled from π_old or correction is off', () => {
    expect(rolloutWeights({ logprobs }, 2)).toBeUndefined();
    expect(rolloutWeights({ logprobs, samplingLogprobs }, 0)).toBeUndefined();
  });
});

describe('rolloutMismatch()', () => {
  it('returns the hand-worked divergence', () => {
    const columns = { logprobs: Float32Array.of(Math.log(2) - 3, -1) };
    expect(rolloutMismatch({ ...columns, samplingLogprobs: Float32Array.of(-3, -1) })).toBeCloseTo(
      0.1534,
      4,
    );
  });

  it('is 0 if tokens were sampled from π_old', () => {
    expect(rolloutMismatch({ logprobs })).toBe(0);
  });
});
