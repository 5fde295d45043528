import { describe, expect, it } from 'vitest';
import type { LabelChoice } from '../api.ts';
import { krippendorffAlpha, measureAgreement } from './agreement.ts';

const pair = (choice: 0 | 1 | 'tie' | 'both-bad'): LabelChoice => ({ kind: 'pair', choice });
const rating = (value: number): LabelChoice => ({ kind: 'rating', rating: value });
const ranking = (...order: number[]): LabelChoice => ({ kind: 'ranking', order });

describe('measureAgreement()', () => {
  it('counts the tasks on which all labellers agree', () => {
    const tasks = [[pair(0), pair(0)], [pair(1), pair(1)], [pair(0), pair(1)], [pair('tie')], []];
    const { agreement, alpha } = measureAgreement(tasks, 'pair');
    expect(agreement).toBeCloseTo(2 / 3, 12);
    expect(alpha).toBeCloseTo(4 / 9, 12);
  });

  it('a tie and both bad are different answers', () => {
    expect(measureAgreement([[pair('tie'), pair('both-bad')]], 'pair').agreement).toBe(0);
  });

  it('ratings may differ by 1, even of three people', () => {
    const tasks = [
      [rating(4), rating(5)],
      [rating(2), rating(4)],
      [rating(3), rating(4), rating(5)],
      [rating(1), rating(1), rating(2)],
    ];
    expect(measureAgreement(tasks, 'rating').agreement).toBe(0.5);
  });

  it('compares the best response of rankings', () => {
    const tasks = [
      [ranking(2, 0, 1), ranking(2, 1, 0)],
      [ranking(0, 1, 2), ranking(1, 0, 2)],
    ];
    expect(measureAgreement(tasks, 'ranking').agreement).toBe(0.5);
  });

  it('is null if no task has several answers', () => {
    expect(measureAgreement([[pair(0)], []], 'pair')).toEqual({ agreement: null, alpha: null });
  });
});

const differ = (a: number, b: number) => (a === b ? 0 : 1);
const squared = (a: number, b: number) => (a - b) ** 2;

it('krippendorffAlpha() is 4/9 for two of three units agreed on', () => {
  const units = [
    [0, 0],
    [1, 1],
    [0, 1],
  ];
  expect(krippendorffAlpha(units, differ)).toBeCloseTo(4 / 9, 12);
});

it('krippendorffAlpha() weights units of three people by m − 1', () => {
  // n = 5; D_o = (4/2 + 0)/5 = 2/5; n_0 = 2, n_1 = 3, D_e = 12/20 = 3/5; α = 1/3
  const units = [
    [0, 0, 1],
    [1, 1],
  ];
  expect(krippendorffAlpha(units, differ)).toBeCloseTo(1 / 3, 12);
});

it('krippendorffAlpha() uses the distance between numbers', () => {
  // n = 4; D_o = (2·1 + 0)/4 = ½; values 1, 2, 5, 5: Σ = 2·(1 + 2·16 + 2·9) = 102, D_e = 102/12
  const units = [
    [1, 2],
    [5, 5],
  ];
  expect(krippendorffAlpha(units, squared)).toBeCloseTo(1 - 0.5 / (102 / 12), 12);
});

it('krippendorffAlpha() is 1 for perfect agreement, below 0 for worse than chance', () => {
  expect(
    krippendorffAlpha(
      [
        [0, 0],
        [1, 1],
      ],
      differ,
    ),
  ).toBe(1);
  // D_o = 1, D_e = 8/12
  expect(
    krippendorffAlpha(
      [
        [0, 1],
        [1, 0],
      ],
      differ,
    ),
  ).toBeCloseTo(-0.5, 12);
});

it('krippendorffAlpha() is null if all values are equal', () => {
  expect(
    krippendorffAlpha(
      [
        [3, 3],
        [3, 3],
      ],
      squared,
    ),
  ).toBeNull();
});
