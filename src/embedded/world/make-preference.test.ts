import { describe, expect, test } from 'vitest';
import { randomStream } from '../../engine/random/index.ts';
import { makePost } from './make-post.ts';
import { type Candidate, makePreference } from './make-preference.ts';

const post = makePost(0, 1);
const candidate = (text: string): Candidate => ({ text, finished: true });
const full = candidate(
  'My uncle gave away my phone yesterday costing me $56. I may ask for the money.',
);
const three = candidate('My uncle gave away my phone yesterday. What should I do?');
const two = candidate('My uncle gave away my phone. What should I do?');

describe('makePreference()', () => {
  test('makePreference() gives the hand-worked probability', () => {
    const { scores, probability } = makePreference(post, [three, two], {
      noise: 0.1,
      random: randomStream(0, 'a'),
    });
    expect(scores).toEqual([0.6, 0.4]);
    expect(probability).toBeCloseTo(0.8808, 4);
  });

  test('makePreference() prefers as often as the probability says', () => {
    const random = randomStream(0, 'frequency');
    const compare = () => makePreference(post, [two, three], { noise: 0.1, random }).preferred;
    const drawn = Array.from({ length: 4000 }, compare);
    const first = drawn.filter((preferred) => preferred === 'first').length / drawn.length;
    // Four standard deviations.
    expect(Math.abs(first - 0.1192)).toBeLessThan(4 * Math.sqrt((0.1192 * 0.8808) / 4000));
  });

  test('makePreference() never errs without noise', () => {
    const random = randomStream(0, 'sure');
    const options = { noise: 0, random };
    expect(makePreference(post, [full, three], options)).toMatchObject({
      preferred: 'first',
      probability: 1,
    });
    expect(makePreference(post, [two, three], options)).toMatchObject({
      preferred: 'second',
      probability: 0,
    });
  });

  test('makePreference() finds ties within the margin', () => {
    const compare = (pair: [Candidate, Candidate], tieMargin?: number) =>
      makePreference(post, pair, {
        noise: 0.1,
        random: randomStream(0, 'tie'),
        ...(tieMargin !== undefined && { tieMargin }),
      });
    expect(compare([full, full])).toMatchObject({ preferred: 'tie', probability: 0.5 });
    expect(compare([full, three]).preferred).not.toBe('tie');
    expect(compare([three, two], 0.25).preferred).toBe('tie');
  });

  test('makePreference() looks at whether a summary finished', () => {
    const cut = { ...full, finished: false };
    const options = { noise: 0, random: randomStream(0, 'cut') };
    expect(makePreference(post, [cut, full], options)).toMatchObject({
      preferred: 'second',
      scores: [0.5, 1],
    });
  });

  test('makePreference() draws one number, whatever the outcome', () => {
    const random = randomStream(0, 'one');
    makePreference(post, [full, full], { noise: 0.1, random });
    makePreference(post, [full, two], { noise: 0.1, random });
    const other = randomStream(0, 'one');
    other.next();
    other.next();
    expect(random.state()).toEqual(other.state());
  });

  test.each([-1, Number.NaN])('makePreference() refuses noise of %d', (noise) => {
    const random = randomStream(0, 'bad');
    expect(() => makePreference(post, [full, two], { noise, random })).toThrow(
      `Cannot make a preference: noise must be at least 0, got ${noise}`,
    );
  });
});
