import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { type GoldScore, goldScore } from './gold-score.ts';
import { makePost } from './make-post.ts';
import {
  demonstrationMix,
  makeDemonstration,
  makeSummary,
  type SummaryKind,
} from './make-summary.ts';

const posts = Array.from({ length: 600 }, (_, index) => makePost(5, index));
const kinds = Object.keys(demonstrationMix) as SummaryKind[];
const summariesOf = (kind: SummaryKind) =>
  posts.map((post, i) => makeSummary(post, { kind, random: randomStream(5, kind, i) }));
const scoresOf = (summaries: readonly string[]): GoldScore[] =>
  posts.map((post, i) => goldScore(post, summaries[i]!, { finished: true }));
const meanOf = (scores: readonly GoldScore[]) =>
  scores.reduce((sum, { score }) => sum + score, 0) / scores.length;
const [good, rambling, missing, invented] = (
  ['good', 'rambling', 'missing', 'invented'] as const
).map((kind) => scoresOf(summariesOf(kind))) as [
  GoldScore[],
  GoldScore[],
  GoldScore[],
  GoldScore[],
];

describe('makeSummary()', () => {
  test('makeSummary() is deterministic for the same stream', () => {
    const write = () => makeSummary(makePost(0, 1), { kind: 'good', random: randomStream(0, 'a') });
    expect(write()).toBe(write());
    expect(write()).toMatch(/my uncle gave away my phone/i);
  });

  test('makeSummary() writes complete sentences for every kind', () => {
    for (const scores of [good, rambling, missing, invented]) {
      expect(scores.filter(({ wellFormed }) => wellFormed < 1)).toEqual([]);
    }
  });

  test('good ones contain all facts and nothing else', () => {
    for (const { coverage, invention, score } of good) {
      expect({ coverage, invention }).toEqual({ coverage: 1, invention: 0 });
      expect(score).toBeGreaterThan(0.7);
    }
  });

  test('rambling ones contain all facts in more words', () => {
    expect(new Set(rambling.map(({ coverage }) => coverage))).toEqual(new Set([1]));
    expect(rambling.filter(({ brevity }) => brevity < 1).length).toBeGreaterThan(540);
  });

  test('missing ones omit one to three facts and invent nothing', () => {
    const parts = [...new Set(missing.map(({ coverage }) => coverage))].sort();
    expect(parts).toEqual([0.4, 0.6, 0.8]);
    expect(new Set(missing.map(({ invention }) => invention))).toEqual(new Set([0]));
  });

  test('invented ones have one or two facts wrong', () => {
    for (const { coverage, invention } of invented) expect(coverage).toBe((5 - invention) / 5);
    expect([...new Set(invented.map(({ invention }) => invention))].sort()).toEqual([1, 2]);
  });

  test('kinds differ clearly in score: good, missing, rambling, invented', () => {
    const means = [good, missing, rambling, invented].map(meanOf);
    for (const [i, mean] of means.entries()) {
      expect(mean).toBeCloseTo([0.98, 0.6, 0.5, 0.29][i]!, 1);
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
    expect(mean).toBeGreaterThan(0.5);
    expect(mean).toBeLessThan(0.62);
  });

  test.each(kinds)('makeDemonstration() writes only %s ones if the mix has no others', (kind) => {
    const mix = { good: 0, rambling: 0, missing: 0, invented: 0, [kind]: 2 };
    const [post] = posts;
    const random = randomStream(5, 'one');
    const state = random.state();
    const written = makeDemonstration(post!, { random, mix });
    random.restore(state);
    random.next();
    expect(written).toBe(makeSummary(post!, { kind, random }));
  });
});
