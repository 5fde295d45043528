import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { makePost } from './make-post.ts';
import { type Candidate, rankSummaries } from './rank-summaries.ts';

const post = makePost(0, 1);
const candidate = (text: string): Candidate => ({ text, finished: true });
/** Gold scores 1, 0.6 and 0.4. */
const full = candidate(
  'My uncle gave away my phone yesterday costing me $56. I may ask for the money.',
);
const three = candidate('My uncle gave away my phone yesterday. What should I do?');
const two = candidate('My uncle gave away my phone. What should I do?');

describe('rankSummaries()', () => {
  test('rankSummaries() follows the gold score without noise', () => {
    const ranked = rankSummaries(post, [two, full, three], {
      noise: 0,
      random: randomStream(0, 'sure'),
    });
    expect(ranked.map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(ranked.map(({ score }) => score)).toEqual([1, 0.6, 0.4]);
  });

  test('rankSummaries() ranks one of two first with the hand-worked probability', () => {
    const random = randomStream(0, 'frequency');
    const firsts = Array.from(
      { length: 4000 },
      () => rankSummaries(post, [three, two], { noise: 0.1, random })[0]!.index,
    );
    const part = firsts.filter((index) => index === 0).length / firsts.length;
    // Four standard deviations.
    expect(Math.abs(part - 0.8808)).toBeLessThan(4 * Math.sqrt((0.1192 * 0.8808) / 4000));
  });

  test('rankSummaries() ranks one of three first in proportion to exp(s/τ)', () => {
    const random = randomStream(0, 'three');
    const firsts = Array.from(
      { length: 4000 },
      () => rankSummaries(post, [full, three, two], { noise: 0.4, random })[0]!.index,
    );
    const weights = [1, 0.6, 0.4].map((s) => Math.exp(s / 0.4));
    const total = weights.reduce((sum, w) => sum + w, 0);
    for (const [i, w] of weights.entries()) {
      const p = w / total;
      const part = firsts.filter((index) => index === i).length / firsts.length;
      expect(Math.abs(part - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 4000));
    }
  });

  test('rankSummaries() considers whether a summary finished', () => {
    const cut = { ...full, finished: false };
    const options = { noise: 0, random: randomStream(0, 'cut') };
    expect(rankSummaries(post, [cut, full], options)).toEqual([
      { index: 1, score: 1 },
      { index: 0, score: 0.5 },
    ]);
  });

  test('rankSummaries() uses one random number per summary', () => {
    const random = randomStream(0, 'draws');
    rankSummaries(post, [full, two, three], { noise: 0, random });
    const other = randomStream(0, 'draws');
    for (let i = 0; i < 3; i++) other.next();
    expect(random.state()).toEqual(other.state());
  });

  test.each([-1, Number.NaN])('rankSummaries() rejects noise of %d', (noise) => {
    const random = randomStream(0, 'bad');
    expect(() => rankSummaries(post, [full, two], { noise, random })).toThrow(
      `Cannot rank summaries: noise must be at least 0, got ${noise}`,
    );
  });
});
