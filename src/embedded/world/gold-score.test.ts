import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { type Fact, type FactKind, factKinds } from './facts.ts';
import { goldScore } from './gold-score.ts';
import { makePost } from './make-post.ts';
import { makeSummary } from './make-summary.ts';
import { readPieces } from './read-pieces.ts';

const fact = (kind: FactKind, wording: string): Fact => {
  const phrases = readPieces(wording).flatMap(({ phrase }) => phrase ?? []);
  return { kind, wording, phrases };
};

const post = {
  facts: [
    fact('who', 'my sister Anna'),
    fact('event', 'broke my phone'),
    fact('when', 'last Friday'),
    fact('measure', '$40'),
    fact('decision', 'move out'),
  ],
};
const rate = (summary: string, finished = true) => goldScore(post, summary, { finished });
const full = 'My sister Anna broke my phone last Friday and I lost $40. Should I move out?';

/** A summary of some of the facts, of 7 to 16 words. */
function tell(kinds: ReadonlySet<FactKind>): string {
  const either = (kind: FactKind, text: string, other: string) => (kinds.has(kind) ? text : other);
  const who = either('who', 'my sister', 'someone');
  const happened = either('event', `${who} broke my phone`, `there was trouble with ${who}`);
  const when = either('when', ' last Friday', '');
  const measure = either('measure', ' and I lost $40', '');
  const ask = either('decision', 'Should I move out?', 'What should I do?');
  return `${happened}${when}${measure}. ${ask}`;
}

describe('goldScore()', () => {
  test('goldScore() is 1 for all facts in a few finished words', () => {
    const best = { score: 1, coverage: 1, brevity: 1, invention: 0, wellFormed: 1 };
    expect(rate(full)).toEqual(best);
    expect(rate('On Friday Anna smashed my phone costing me $40. I may move out.')).toEqual(best);
  });

  test('goldScore() is 0.4 for four of five facts and a wrong amount', () => {
    const { score, coverage, invention } = rate(full.replace('$40', '$70'));
    expect(score).toBeCloseTo(0.4, 12);
    expect([coverage, invention]).toEqual([0.8, 1]);
  });

  test('goldScore() counts a wrong name with the right relation as invention', () => {
    expect(rate(full.replace('Anna', 'Ben'))).toMatchObject({ score: 0.5, coverage: 1 });
  });

  test.each(['$415', 'Zoe', '7'])('goldScore() counts %s as invention', (word) => {
    expect(rate(`${full} I may ${word}.`).invention).toBe(1);
  });

  test('goldScore() depends on the number of words', () => {
    const words = (n: number) => rate(Array(n).fill('it').join(' ')).brevity;
    expect([0, 2, 5, 18, 29, 40, 50].map(words)).toEqual([0, 0.4, 1, 1, 0.5, 0, 0]);
  });

  test('goldScore() halves the score of a summary that does not end a sentence', () => {
    expect(rate(full, false)).toMatchObject({ score: 0.5, wellFormed: 0.5 });
    expect(rate(full.slice(0, -1))).toMatchObject({ score: 0.5, wellFormed: 0.5 });
  });

  test('goldScore() lowers the score of words that do not belong together', () => {
    // ^ my | my sister | sister Anna | Anna event | event time | time $40 ✗ | $40 decision ✗ | decision .
    const soup = rate('my sister Anna broke my phone last Friday $40 move out.');
    expect(soup.wellFormed).toBeCloseTo(1 - (3 * 2) / 8, 12);
    expect(soup.score).toBeCloseTo(0.25, 12);
    expect(rate('my sister Anna, broke my phone, last Friday, $40, move out.').score).toBe(0);
  });

  test('goldScore() is 0 for an empty summary', () => {
    const nothing = { score: 0, coverage: 0, brevity: 0, invention: 0, wellFormed: 0 };
    for (const summary of ['', ' \n']) expect(rate(summary)).toEqual(nothing);
    expect(rate('.').score).toBe(0);
  });

  test('goldScore() grows by a fifth per fact', () => {
    fc.assert(
      fc.property(fc.subarray([...factKinds]), (kinds) => {
        expect(rate(tell(new Set(kinds))).score).toBeCloseTo(kinds.length / 5, 12);
      }),
    );
  });

  test('goldScore() does not depend on the order of facts, nor on JSON', () => {
    const kept = JSON.parse(JSON.stringify({ facts: post.facts.toReversed() }));
    fc.assert(
      fc.property(fc.subarray([...factKinds]), (kinds) => {
        const summary = tell(new Set(kinds));
        expect(goldScore(kept, summary, { finished: true })).toEqual(rate(summary));
      }),
    );
  });

  test('goldScore() is between 0 and 1 for any text', () => {
    const words = [...full.split(' '), '$70', 'Ben', '.', '?', 'last', '🙂'];
    const texts = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...words)).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, finished) => {
        const { score } = rate(text, finished);
        expect(score >= 0 && score <= 1).toBe(true);
      }),
    );
  });

  test('goldScore() never rewards a sentence that adds no fact', () => {
    fc.assert(
      fc.property(fc.nat(100_000), (index) => {
        const of = makePost(4, index);
        const random = randomStream(4, 'answer', index);
        const good = makeSummary(of, { kind: 'good', random });
        const { score } = goldScore(of, good, { finished: true });
        for (const more of [good, ...of.sentences]) {
          const longer = goldScore(of, `${good} ${more}`, { finished: true });
          expect(longer.score).toBeLessThanOrEqual(score);
          if (of.distractors.includes(more) && readPieces(more).some(({ phrase }) => phrase)) {
            expect(longer.score).toBeLessThan(score / 2);
          }
        }
      }),
    );
  });
});
