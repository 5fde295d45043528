import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { offsetsOf } from '../columns/index.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { addSums, PolicyLoss, type PolicyLossConfig, type PolicyLossInput } from './policy-loss.ts';

const variants: Readonly<Record<string, Partial<PolicyLossConfig>>> = {
  clip: {},
  'clip-higher': { clipEpsilonHigh: 0.4 },
  'dual clip': { dualClip: 3 },
  'sequence ratio': { ratioLevel: 'sequence' },
  'sequence ratio with dual clip': { ratioLevel: 'sequence', dualClip: 3 },
  'k1 in the loss': { klPlacement: 'loss', klEstimator: 'k1' },
  'k2 in the loss': { klPlacement: 'loss', klEstimator: 'k2' },
  'k3 in the loss': { klPlacement: 'loss', klEstimator: 'k3' },
  'entropy bonus': { entropyCoef: 0.1 },
  everything: {
    ratioLevel: 'sequence',
    klPlacement: 'loss',
    klEstimator: 'k3',
    entropyCoef: 0.1,
    dualClip: 3,
  },
};
const names = Object.keys(variants);
const makeLoss = (name: string) => new PolicyLoss({ ...resolvePPOConfig(), ...variants[name]! });

/** Multiples of 1/64, so that float32 represents all numbers and differences exactly. */
const grid = (low: number, high: number) =>
  fc.integer({ min: 64 * low, max: 64 * high }).map((k) => k / 64);

interface Token {
  readonly old: number;
  readonly logRatio: number;
  readonly advantage: number;
  readonly ref: number;
  readonly entropy: number;
  readonly weight: number;
}
const token = fc.record({
  old: grid(-4, 0),
  logRatio: grid(-2, 2),
  advantage: grid(-3, 3),
  ref: grid(-4, 0),
  entropy: grid(0, 3),
  weight: grid(0, 2),
});
/** With 1, 2 or 4 tokens no mean of log-ratios is within STEP of a kink: ln 0.8, ln 1.2, ln 1.4, ln 3. */
const sequence = fc
  .constantFrom(1, 2, 4)
  .chain((length) => fc.array(token, { minLength: length, maxLength: length }));
const batch = fc.array(sequence, { minLength: 1, maxLength: 4 });

function inputOf(sequences: readonly Token[][]): PolicyLossInput {
  const tokens = sequences.flat();
  const column = (of: (token: Token) => number) => Float32Array.from(tokens, of);
  return {
    offsets: offsetsOf(sequences.map(({ length }) => length)),
    newLogprobs: column(({ old, logRatio }) => old + logRatio),
    oldLogprobs: column(({ old }) => old),
    advantages: column(({ advantage }) => advantage),
    weights: column(({ weight }) => weight),
    entropies: column(({ entropy }) => entropy),
    refLogprobs: column(({ ref }) => ref),
    klCoef: 0.25,
    tokenCount: tokens.length,
    sequenceCount: sequences.length,
  };
}

/** Half the distance between the two points of a difference. */
const STEP = 2 ** -12;
const differencesOf = (values: Float32Array, loss: (moved: Float32Array) => number) =>
  values.map((x, i) => {
    const rise = loss(values.with(i, x + STEP)) - loss(values.with(i, x - STEP));
    return rise / (2 * STEP);
  });

describe('gradients', () => {
  test.each(names)('dLogprobs of %s equal finite differences of the loss', (name) => {
    const policyLoss = makeLoss(name);
    fc.assert(
      fc.property(batch, (sequences) => {
        const input = inputOf(sequences);
        const expected = differencesOf(
          input.newLogprobs,
          (newLogprobs) => policyLoss.evaluate({ ...input, newLogprobs }).loss,
        );
        const { dLogprobs } = policyLoss.evaluate(input);
        expectClose(dLogprobs, { expected, within: 2e-6, label: 'dLogprobs' });
      }),
    );
  });

  test.each(['entropy bonus', 'everything'])(
    'dEntropies of %s equal finite differences of the loss',
    (name) => {
      const policyLoss = makeLoss(name);
      fc.assert(
        fc.property(batch, (sequences) => {
          const input = inputOf(sequences);
          const expected = differencesOf(
            input.entropies,
            (entropies) => policyLoss.evaluate({ ...input, entropies }).loss,
          );
          const { dEntropies } = policyLoss.evaluate(input);
          expectClose(dEntropies!, { expected, within: 1e-6, label: 'dEntropies' });
        }),
      );
    },
  );
});

test.each(names.filter((name) => makeLoss(name).hasTokenSlopes))(
  'the slopes of %s are the gradient of the loss for any new logprobs',
  (name) => {
    const policyLoss = makeLoss(name);
    fc.assert(
      fc.property(batch, (sequences) => {
        const input = inputOf(sequences);
        const { slopes, lows, highs } = policyLoss.tokenSlopes(input);
        const actual = slopes.map((slope, t) => {
          const d = input.newLogprobs[t]! - input.oldLogprobs[t]!;
          return lows[t]! <= d && d <= highs[t]! ? slope * Math.exp(d) : 0;
        });
        const expected = policyLoss.evaluate(input).dLogprobs;
        expectClose(actual, { expected, within: 1e-6, label: 'dLogprobs' });
      }),
    );
  },
);

test('only losses per token have slopes, and no subclass with another loss', () => {
  const perToken = names.filter((name) => makeLoss(name).hasTokenSlopes);
  expect(perToken).toEqual(['clip', 'clip-higher', 'dual clip']);
  class Doubled extends PolicyLoss {
    override evaluate(input: PolicyLossInput) {
      const result = super.evaluate(input);
      return { ...result, dLogprobs: result.dLogprobs.map((d) => 2 * d) };
    }
  }
  expect(new Doubled(resolvePPOConfig()).hasTokenSlopes).toBe(false);
});

test.each(names)('micro-batches of %s add up to the whole', (name) => {
  const policyLoss = makeLoss(name);
  fc.assert(
    fc.property(batch, fc.nat(4), (sequences, cut) => {
      const input = inputOf(sequences);
      const { tokenCount, sequenceCount } = input;
      const whole = policyLoss.evaluate(input);
      const parts = [sequences.slice(0, cut), sequences.slice(cut)].map((part) =>
        policyLoss.evaluate({ ...inputOf(part), tokenCount, sequenceCount }),
      );
      expect(parts.flatMap(({ dLogprobs }) => [...dLogprobs])).toEqual([...whole.dLogprobs]);
      expect(parts.flatMap(({ dEntropies }) => [...(dEntropies ?? [])])).toEqual([
        ...(whole.dEntropies ?? []),
      ]);
      expect(parts[0]!.loss + parts[1]!.loss).toBeCloseTo(whole.loss, 10);
      const sums = parts.map((part) => part.sums).reduce((a, b) => addSums(a, b));
      expect(Object.keys(sums)).toEqual(Object.keys(whole.sums));
      const expected = Object.values(whole.sums);
      expectClose(Object.values(sums), { expected, within: 1e-10, label: 'sums' });
    }),
  );
});
