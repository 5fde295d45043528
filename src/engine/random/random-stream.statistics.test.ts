import { expect, test } from 'vitest';
import { randomStream } from './index.ts';

/** The standard score of χ² over equally likely bins (Wilson and Hilferty's approximation). */
function uniformityScore(sample: () => number, { bins = 256, samples = 200_000 } = {}): number {
  const counts = new Array<number>(bins).fill(0);
  for (let i = 0; i < samples; i++) counts[Math.floor(sample() * bins)]!++;
  const expected = samples / bins;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const spread = 2 / (9 * (bins - 1));
  return ((chiSquare / (bins - 1)) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread);
}

/** √n · Pearson's correlation: a standard normal if the pairs are independent. */
function correlationScore(pairs: readonly (readonly [number, number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [mx, my] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  const covariance = mean(pairs.map(([x, y]) => (x - mx) * (y - my)));
  const variances =
    mean(pairs.map(([x]) => (x - mx) ** 2)) * mean(pairs.map(([, y]) => (y - my) ** 2));
  return (covariance / Math.sqrt(variances)) * Math.sqrt(pairs.length);
}

test('next() is uniform within one stream', () => {
  const stream = randomStream(0, 'uniformity');
  expect(Math.abs(uniformityScore(() => stream.next()))).toBeLessThan(3.3);
});

test('next() is uniform in its lowest 20 bits', () => {
  const stream = randomStream(0, 'low bits');
  const score = uniformityScore(() => (stream.next() * 2 ** 33) % 1);
  expect(Math.abs(score)).toBeLessThan(3.3);
});

test('the first numbers of neighbouring streams are uniform', () => {
  let key = 0;
  const score = uniformityScore(() => randomStream(7, 'token', key++).next(), { samples: 30_000 });
  expect(Math.abs(score)).toBeLessThan(3.3);
});

test('the uniformity test detects a bias of 2 % and numbers that are too even', () => {
  const stream = randomStream(0, 'control');
  expect(uniformityScore(() => stream.next() ** 1.02)).toBeGreaterThan(3.3);
  let k = 0;
  expect(uniformityScore(() => (k++ % 1024) / 1024)).toBeLessThan(-3.3);
});

test('streams with neighbouring keys or seeds are not correlated', () => {
  const keys = Array.from({ length: 10_000 }, (_, key) => key);
  const first = (seed: number, key: number) => randomStream(seed, 'sampling', key).next();
  const score = (pair: (key: number) => readonly [number, number]) =>
    Math.abs(correlationScore(keys.map(pair)));
  expect(score((key) => [first(1, key), first(1, key + 1)])).toBeLessThan(3.3);
  expect(score((key) => [first(key, 0), first(key + 1, 0)])).toBeLessThan(3.3);
  expect(score((key) => [first(1, key), key])).toBeLessThan(3.3);
  // A control: a twentieth of the neighbour is detected.
  expect(score((key) => [first(1, key), first(2, key) + first(1, key) / 20])).toBeGreaterThan(3.3);
});

test('successive numbers of a stream are not correlated', () => {
  const stream = randomStream(2, 'successive');
  const pairs = Array.from({ length: 50_000 }, () => [stream.next(), stream.next()] as const);
  expect(Math.abs(correlationScore(pairs))).toBeLessThan(3.3);
});

test('normal() has the moments and the tails of the standard normal', () => {
  const n = 400_000;
  const stream = randomStream(3, 'normal');
  const numbers = Array.from({ length: n }, () => stream.normal());
  const moment = (power: number) => numbers.reduce((sum, x) => sum + x ** power, 0) / n;
  // E xᵏ and the standard deviation of xᵏ: √(E x²ᵏ − (E xᵏ)²).
  for (const [power, mean, std] of [
    [1, 0, 1],
    [2, 1, Math.sqrt(2)],
    [3, 0, Math.sqrt(15)],
    [4, 3, Math.sqrt(96)],
  ] as const) {
    const score = ((moment(power) - mean) / std) * Math.sqrt(n);
    expect(Math.abs(score), `moment ${power}`).toBeLessThan(3.3);
  }
  // P(|x| > 3) = 0.0026998
  const tail = numbers.filter((x) => Math.abs(x) > 3).length;
  expect(Math.abs(tail - n * 0.0026998)).toBeLessThan(3.3 * Math.sqrt(n * 0.0026998));
});

test('shuffle() returns all 24 orders of four equally often', () => {
  const stream = randomStream(4, 'orders');
  const names = new Map<string, number>();
  const score = uniformityScore(
    () => {
      const order = stream.shuffle(['a', 'b', 'c', 'd']).join('');
      if (!names.has(order)) names.set(order, names.size);
      return (names.get(order)! + 0.5) / 24;
    },
    { bins: 24, samples: 48_000 },
  );
  expect(Math.abs(score)).toBeLessThan(3.3);
  expect(names.size).toBe(24);
});
