import { expect, test } from 'vitest';
import { readPost, renderCard, roundTicks } from './before-after-card.ts';
import { typicalPost } from './measure-demo.ts';

const scores = (...all: number[]) => all.map((score) => ({ score }));

test('typicalPost() is closest to both means', () => {
  expect(typicalPost(scores(0, 1, 0.5), scores(0.5, 1, 1))).toBe(2);
  expect(typicalPost(scores(0.3, 0, 0.6), scores(0.5, 0, 1))).toBe(0);
});

test('readPost() returns the title and the text', () => {
  const post = 'SUBREDDIT: r/a\nTITLE: Help\nPOST: My cat. It ran.\nTL;DR:';
  expect(readPost(post)).toEqual({ title: 'r/a: Help', text: 'My cat. It ran.' });
});

test('roundTicks() contain all numbers', () => {
  expect(roundTicks(-0.2, 1.04)).toEqual([-0.5, 0, 0.5, 1, 1.5]);
  expect(roundTicks(1, 1)).toEqual([1, 1.5]);
});

test('renderCard() shows both summaries as text, with their scores', () => {
  const post = 'SUBREDDIT: r/a\nTITLE: Help\nPOST: My cat.\nTL;DR:';
  const html = renderCard({
    before: { post, summary: 'A <b>', score: 0.25 },
    after: { post, summary: 'My cat ran.', score: 0.5 },
    gold: {
      posts: 2,
      before: 0.2,
      after: 0.6,
      winRate: 0.75,
      winLow: 0.5,
      winHigh: 1,
      low: 0.1,
      high: 0.7,
    },
    rewards: [0, 1],
  });
  expect(html).toContain('<p>A &#60;b&#62;</p>');
  expect(html).toContain('score <b>0.25</b>');
  expect(html).toContain('After 2 steps<span class="score">score <b>0.50</b>');
  expect(html).toContain('0.20 → <b>0.60</b>');
});
