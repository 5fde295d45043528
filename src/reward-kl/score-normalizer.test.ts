import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeMoments, ScoreNormalizer } from './score-normalizer.ts';

const score = fc.float({ min: -100, max: 100, noNaN: true });
const batch = fc.array(score, { minLength: 1, maxLength: 9 });

describe('ScoreNormalizer', () => {
  test('none only clips scores', () => {
    const scores = [-5, -2, 0.5, 3];
    const plain = new ScoreNormalizer({ scoreNormalization: 'none' });
    expect(plain.normalize(scores)).toEqual({ scores: Float32Array.from(scores), scale: 1 });
    const clipped = new ScoreNormalizer({ scoreNormalization: 'none', scoreClip: 2 });
    expect([...clipped.normalize(scores).scores]).toEqual([-2, -2, 0.5, 2]);
  });

  test('batch matches the worked example and clips afterwards', () => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'batch' });
    expect([...normalizer.normalize([1, 3]).scores]).toEqual([-1, 1]);
    expect(normalizer.normalize([10, 14])).toEqual({ scores: Float32Array.of(-1, 1), scale: 0.5 });
    const clipped = new ScoreNormalizer({ scoreNormalization: 'batch', scoreClip: 0.25 });
    expect([...clipped.normalize([1, 3]).scores]).toEqual([-0.25, 0.25]);
  });

  test('running matches the worked example over all added scores', () => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'running' });
    normalizer.add([1, 3]);
    expect([...normalizer.normalize([1, 3]).scores]).toEqual([-1, 1]);
    normalizer.add([8]);
    const { scores, scale } = normalizer.normalize([8]);
    expect(scale).toBeCloseTo(1 / Math.sqrt(26 / 3), 12);
    expect(scores[0]).toBeCloseTo(1.3587, 4);
  });

  test('normalize() changes no state', () => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'running' });
    normalizer.add([1, 3]);
    normalizer.normalize([100]);
    expect(normalizer.state()).toEqual({ count: 2, mean: 2, squares: 2 });
  });

  test.each(['batch', 'running'] as const)(
    'one score, equal scores and scores that differ by rounding become 0 with scale 1: %s',
    (scoreNormalization) => {
      for (const scores of [[7], [0], [0.1, 0.1, 0.1], [1, Math.fround(1 + 2e-7)]]) {
        const normalizer = new ScoreNormalizer({ scoreNormalization });
        normalizer.add(scores);
        const result = normalizer.normalize(scores);
        expect(result.scale).toBe(1);
        for (const z of result.scores) expect(Math.abs(z)).toBeLessThan(1e-6);
      }
    },
  );

  test('running only clips if no scores were added', () => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'running', scoreClip: 4 });
    expect([...normalizer.normalize([2, 9]).scores]).toEqual([2, 4]);
  });

  test('batch is finite and independent of the scale of scores', () => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'batch' });
    fc.assert(
      fc.property(batch, fc.constantFrom(2 ** -20, 2 ** 20), (scores, factor) => {
        const plain = normalizer.normalize(scores).scores;
        const scaled = normalizer.normalize(scores.map((x) => x * factor)).scores;
        const isConstant = normalizer.normalize(scores).scale === 1;
        expect(plain.every(Number.isFinite)).toBe(true);
        if (!isConstant) expect([...scaled]).toEqual([...plain]);
      }),
    );
  });

  test('running does not depend on how scores are batched', () => {
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), (batches) => {
        const whole = new ScoreNormalizer({ scoreNormalization: 'running' });
        const parts = new ScoreNormalizer({ scoreNormalization: 'running' });
        whole.add(batches.flat());
        for (const part of batches) parts.add(part);
        const [a, b] = [whole.state(), parts.state()];
        expect(b.count).toBe(a.count);
        expect(b.mean).toBeCloseTo(a.mean, 9);
        expect(Math.abs(b.squares - a.squares)).toBeLessThan(1e-8 * (1 + a.squares));
      }),
    );
  });

  test('continues exactly from a state saved as JSON', () => {
    const config = { scoreNormalization: 'running' } as const;
    const [first, second] = [new ScoreNormalizer(config), new ScoreNormalizer(config)];
    first.add([0.1, 1 / 3, -7.77]);
    second.restore(JSON.parse(JSON.stringify(first.state())));
    for (const normalizer of [first, second]) normalizer.add([0.3, 2.2]);
    expect(second.state()).toEqual(first.state());
    expect(second.normalize([1])).toEqual(first.normalize([1]));
  });

  test.each([
    { count: -1, mean: 0, squares: 0 },
    { count: 1.5, mean: 0, squares: 0 },
    { count: 1, mean: Number.NaN, squares: 0 },
    { count: 1, mean: 0, squares: -1 },
  ])('rejects the state %j', (state) => {
    const normalizer = new ScoreNormalizer({ scoreNormalization: 'running' });
    expect(() => normalizer.restore(state)).toThrow(
      'Cannot restore the score normaliser: it must have a count, a mean and a sum of squares, got',
    );
  });
});

test('mergeMoments() matches the worked example', () => {
  const [a, b] = [
    { count: 2, mean: 2, squares: 2 },
    { count: 1, mean: 8, squares: 0 },
  ];
  expect(mergeMoments(a, b)).toEqual({ count: 3, mean: 4, squares: 26 });
});
