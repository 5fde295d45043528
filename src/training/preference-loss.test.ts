import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LogisticSlopes,
  preferenceLoss,
  preferenceSlopes,
  ratingLoss,
  ratingSlopes,
} from './preference-loss.ts';

const one = { margins: [0], targets: [1], weights: [1], totalWeight: 1 };

describe('preferenceLoss()', () => {
  it('is log(1 + e^−d) of a pair', () => {
    const { loss, dScores, correct, margin } = preferenceLoss({
      ...one,
      scores: Float32Array.of(1, 0),
    });
    expect(loss).toBeCloseTo(0.313262, 6);
    expect(dScores[0]).toBeCloseTo(-0.268941, 6);
    expect(dScores[1]).toBeCloseTo(0.268941, 6);
    expect([correct, margin]).toEqual([1, 1]);
  });

  it('counts pairs whose better side wins, without ties', () => {
    const { judged, correct, margin } = preferenceLoss({
      scores: Float32Array.of(0, 2, 5, 1, 3, 3, 1, 0),
      margins: [0, 0, 0, 0],
      // The rejected side is better and wins by 2; a tie; equal scores; the chosen side wins by 1.
      targets: [0.1, 0.5, 1, 0.9],
      weights: [1, 4, 1, 2],
      totalWeight: 8,
    });
    expect({ judged, correct, margin }).toEqual({ judged: 4, correct: 3.5, margin: 4 });
  });

  it('requires a margin, and equal scores for a tie', () => {
    const scores = Float32Array.of(1, 0);
    expect(preferenceLoss({ ...one, margins: [1], scores }).loss).toBeCloseTo(Math.LN2, 6);
    const tie = preferenceLoss({ ...one, targets: [0.5], scores: Float32Array.of(2, 2) });
    expect(tie.loss).toBeCloseTo(Math.LN2, 6);
    expect([...tie.dScores].map(Math.abs)).toEqual([0, 0]);
    expect(tie.judged).toBe(0);
  });

  it('does not overflow', () => {
    const far = preferenceLoss({ ...one, scores: Float32Array.of(-1e4, 1e4) });
    expect(far.loss).toBeCloseTo(2e4, 3);
    expect([...far.dScores]).toEqual([-1, 1]);
  });

  it('has the gradient of its loss', () => {
    const number = fc.double({ min: -3, max: 3, noNaN: true });
    const pair = fc.tuple(number, number, number, fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 5 }), (pairs) => {
        const pairsWith = (scores: Float32Array) => ({
          scores,
          margins: pairs.map(([, , m]) => m),
          targets: pairs.map(([, , , p]) => p),
          weights: pairs.map((_, i) => 1 + i),
          totalWeight: 10,
        });
        const scores = Float32Array.from(pairs.flatMap((pair) => pair.slice(0, 2)));
        const { dScores } = preferenceLoss(pairsWith(scores));
        scores.forEach((s, i) => {
          const at = (x: number) => preferenceLoss(pairsWith(scores.with(i, x))).loss;
          const [low, high] = [Math.fround(s - 1e-2), Math.fround(s + 1e-2)];
          expect(dScores[i]).toBeCloseTo((at(high) - at(low)) / (high - low), 3);
        });
      }),
    );
  });
});

describe('ratingLoss()', () => {
  it('is the cross-entropy of the rating', () => {
    const { loss, dScores } = ratingLoss(Float32Array.of(0), [0.75], 1);
    expect(loss).toBeCloseTo(Math.LN2, 6);
    expect(dScores[0]).toBeCloseTo(-0.25, 6);
  });
});

/** ∂L/∂s as the columns describe it. */
function slopesAt(scores: Float32Array, columns: LogisticSlopes): number[] {
  const { rivals, margins, targets, weights } = columns;
  return Array.from(scores, (s, i) => {
    const z = rivals ? s - scores[rivals[i]!]! - margins![i]! : s;
    return weights[i]! * (1 / (1 + Math.exp(-z)) - targets[i]!);
  });
}

describe('slopes', () => {
  const numbers = (min: number, max: number) =>
    fc.array(fc.double({ min, max, noNaN: true }), { minLength: 8, maxLength: 8 });

  it('are the gradients of preferenceLoss()', () => {
    fc.assert(
      fc.property(numbers(-8, 8), numbers(0, 1), numbers(-2, 2), (values, targets, margins) => {
        const scores = Float32Array.from(values);
        const pairs = { margins, targets, weights: [1, 2, 3, 0.5], totalWeight: 9 };
        const four = { ...pairs, targets: targets.slice(4), margins: margins.slice(4) };
        const { dScores } = preferenceLoss({ scores, ...four });
        for (const [i, slope] of slopesAt(scores, preferenceSlopes(four)).entries()) {
          expect(slope).toBeCloseTo(dScores[i]!, 5);
        }
      }),
    );
  });

  it('are the gradients of ratingLoss()', () => {
    fc.assert(
      fc.property(numbers(-8, 8), numbers(0, 1), (values, ratings) => {
        const scores = Float32Array.from(values);
        const { dScores } = ratingLoss(scores, ratings, 20);
        for (const [i, slope] of slopesAt(scores, ratingSlopes(ratings, 20)).entries()) {
          expect(slope).toBeCloseTo(dScores[i]!, 6);
        }
      }),
    );
  });
});
