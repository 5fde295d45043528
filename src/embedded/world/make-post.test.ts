import { describe, expect, test } from 'vitest';
import { factKinds } from './facts.ts';
import { makePost, makeSplitPost, splits } from './make-post.ts';
import { keyOf } from './phrases.ts';
import { readPieces } from './read-pieces.ts';
import { scenarios } from './scenario.ts';

const posts = Array.from({ length: 800 }, (_, index) => makePost(1, index));
const keysIn = (text: string) =>
  readPieces(text).flatMap(({ phrase }) => (phrase ? [keyOf(phrase)] : []));

describe('makePost()', () => {
  test('makePost() always returns the same post', () => {
    const { text, facts } = makePost(0, 1);
    expect(text).toBe(
      'SUBREDDIT: r/family\n' +
        'TITLE: Problem with my uncle\n' +
        'POST: I wonder if I should ask for the money. It turns out my uncle gave away my phone. ' +
        'I am so tired of this. This was yesterday. I lost $56 because of this. ' +
        'My girlfriend visited me six weeks ago.\n' +
        'TL;DR:',
    );
    const wording = ['my uncle', 'gave away my phone', 'yesterday', '$56', 'ask for the money'];
    expect(facts.map((fact) => fact.wording)).toEqual(wording);
  });

  test('makePost() depends only on seed and index', () => {
    expect(makePost(1, 7)).toEqual(posts[7]);
    expect(makePost(2, 7).text).not.toBe(posts[7]!.text);
  });

  test('makePost() mentions each kind of fact once, in the body', () => {
    for (const { facts, sentences, text } of posts) {
      expect(facts.map(({ kind }) => kind)).toEqual(factKinds);
      const body = sentences.join(' ');
      expect(text).toContain(`\nPOST: ${body}\nTL;DR:`);
      const keys = keysIn(body);
      for (const { wording, phrases } of facts) {
        expect(body.toLowerCase()).toContain(wording.toLowerCase());
        for (const phrase of phrases) expect(keys).toContain(keyOf(phrase));
      }
    }
  });

  test('makePost() mentions no key fact in its distractors', () => {
    for (const { facts, distractors } of posts) {
      const keys = keysIn(distractors.join(' '));
      for (const { phrases } of facts) {
        for (const phrase of phrases) expect(keys).not.toContain(keyOf(phrase));
      }
    }
  });

  test('makePost() has two to four distractors, one or two of them about someone else', () => {
    const counts = posts.map(({ distractors }) => distractors.length);
    expect([...new Set(counts)].sort()).toEqual([2, 3, 4]);
    const factual = posts.map(
      ({ distractors }) => distractors.filter((sentence) => keysIn(sentence).length > 0).length,
    );
    expect([...new Set(factual)].sort()).toEqual([1, 2]);
  });

  test('makePost() introduces someone before it uses she or he', () => {
    for (const { facts, sentences } of posts) {
      const body = sentences.join(' ').toLowerCase();
      const pronoun = body.search(/\b(she|he)\b/);
      if (pronoun >= 0) expect(body.indexOf(facts[0]!.wording.toLowerCase())).toBeLessThan(pronoun);
    }
  });

  test('makePost() uses many orders of facts', () => {
    const orders = posts.map(({ facts, sentences }) => {
      const keys = keysIn(sentences.join(' '));
      const places = facts.map(({ phrases }) => keys.indexOf(keyOf(phrases[0]!)));
      return [0, 1, 2, 3, 4].sort((a, b) => places[a]! - places[b]!).join('');
    });
    expect(new Set(orders).size).toBeGreaterThan(12);
  });

  test('makePost() rarely repeats itself and uses every scenario', () => {
    expect(new Set(posts.map(({ text }) => text)).size).toBe(posts.length);
    const wording = posts.map(({ facts }) => facts.map((fact) => fact.wording).join());
    expect(new Set(wording).size).toBe(posts.length);
    const visited = new Set(posts.map(({ scenario }) => scenario));
    expect([...visited].sort()).toEqual(scenarios.map(({ subreddit }) => subreddit).sort());
  });
});

test('makeSplitPost() gives each split its own million posts', () => {
  const first = splits.map((split) => makeSplitPost(split, { seed: 3, number: 7 }));
  expect(first).toEqual([7, 1_000_007, 2_000_007, 3_000_007, 4_000_007].map((i) => makePost(3, i)));
});

test.each([-1, 0.5, 1_000_000])('makeSplitPost() rejects number %d', (number) => {
  expect(() => makeSplitPost('sft', { seed: 0, number })).toThrow(
    `Cannot generate a post of "sft": its number must be a whole number from 0 to 999999, got ${number}`,
  );
});
