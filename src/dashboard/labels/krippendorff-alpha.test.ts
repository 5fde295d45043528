import { expect, it } from 'vitest';
import { krippendorffAlpha } from './krippendorff-alpha.ts';

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

it('krippendorffAlpha() weighs units of three people by m − 1', () => {
  // n = 5; D_o = (4/2 + 0)/5 = 2/5; n_0 = 2, n_1 = 3, D_e = 12/20 = 3/5; α = 1/3
  const units = [
    [0, 0, 1],
    [1, 1],
  ];
  expect(krippendorffAlpha(units, differ)).toBeCloseTo(1 / 3, 12);
});

it('krippendorffAlpha() counts how far numbers are apart', () => {
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

it('krippendorffAlpha() is undefined where all values are equal', () => {
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
