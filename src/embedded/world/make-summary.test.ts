import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { type GoldScore, goldScore } from './gold-score.ts';
import { makePost } from './make-post.ts';
import { makeDemonstration, makeSummary, type SummaryKind } from './make-summary.ts';

const posts = Array.from({ length: 600 }, (_, index) => makePost(5, index));
const kinds = ['good', 'rambling', 'verbose', 'missing', 'sparse', 'invented'] as const;
const summariesOf = (kind: SummaryKind) =>
  posts.map((post, i) => makeSummary(post, { kind, random: randomStream(5, kind, i) }));
const scoresOf = (summaries: readonly string[]): GoldScore[] =>
  posts.map((post, i) => goldScore(post, summaries[i]!, { finished: true }));
const meanOf = (scores: readonly GoldScore[]) =>
  scores.reduce((sum, { score }) => sum + score, 0) / scores.length;
const { good, rambling, verbose, missing, sparse, invented } = Object.fromEntries(
  kinds.map((kind) => [kind, scoresOf(summariesOf(kind))]),
) as Record<SummaryKind, GoldScore[]>;

describe('makeSummary()', () => {
  test('makeSummary() is deterministic for the same stream', () => {
    const write = () => makeSummary(makePost(0, 1), { kind: 'good', random: randomStream(0, 'a') });
    expect(write()).toBe(write());
    expect(write()).toMatch(/my uncle gave away my phone/i);
  });

  test('makeSummary() writes complete sentences for every kind', () => {
    for (const scores of [good, rambling, verbose, missing, sparse, invented]) {
      expect(scores.filter(({ wellFormed }) => wellFormed < 1)).toEqual([]);
    }
  });

  test('good ones contain all facts and nothing else', () => {
    for (const { coverage, invention, score } of good) {
      expect({ coverage, invention }).toEqual({ coverage: 1, invention: 0 });
      expect(score).toBeGreaterThan(0.7);
    }
  });

  test('rambling and verbose ones contain all facts in more words', () => {
    for (const scores of [rambling, verbose]) {
      expect(new Set(scores.map(({ coverage }) => coverage))).toEqual(new Set([1]));
      expect(scores.filter(({ brevity }) => brevity < 1).length).toBeGreaterThan(540);
    }
  });

  test('missing ones omit one to three facts, sparse ones two or three, and invent nothing', () => {
    const coverages = (scores: readonly GoldScore[]) =>
      [...new Set(scores.map(({ coverage }) => coverage))].sort();
    expect(coverages(missing)).toEqual([0.4, 0.6, 0.8]);
    expect(coverages(sparse)).toEqual([0.4, 0.6]);
    for (const { invention } of [...missing, ...sparse]) expect(invention).toBe(0);
  });

  test('invented ones have one or two facts wrong', () => {
    for (const { coverage, invention } of invented) expect(coverage).toBe((5 - invention) / 5);
    expect([...new Set(invented.map(({ invention }) => invention))].sort()).toEqual([1, 2]);
  });

  test('kinds differ clearly in score', () => {
    const means = [good, missing, rambling, sparse, invented, verbose].map(meanOf);
    for (const [i, mean] of means.entries()) {
      expect(mean).toBeCloseTo([0.98, 0.6, 0.5, 0.5, 0.29, 0.22][i]!, 1);
    }
    for (const [i, { score }] of good.entries()) {
      expect(score).toBeGreaterThan(invented[i]!.score);
    }
  });
});

describe('makeDemonstration()', () => {
  test('makeDemonstration() is mediocre on average', () => {
    const write = (i: number) =>
      makeDemonstration(posts[i]!, { random: randomStream(5, 'sft', i) });
    const mean = meanOf(scoresOf(posts.map((_, i) => write(i))));
    expect(mean).toBeGreaterThan(0.36);
    expect(mean).toBeLessThan(0.46);
  });

  test.each(kinds)('makeDemonstration() writes only %s ones if the mix has no others', (kind) => {
    const mix = { good: 0, verbose: 0, sparse: 0, [kind]: 2 };
    const [post] = posts;
    const random = randomStream(5, 'one');
    const state = random.state();
    const written = makeDemonstration(post!, { random, mix });
    random.restore(state);
    random.next();
    expect(written).toBe(makeSummary(post!, { kind, random }));
  });
});
