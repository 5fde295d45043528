import { describe, expect, it } from 'vitest';
import { buildComparison } from './compare-tasks.ts';

const pairs = Array.from({ length: 40 }, (_, i) => ({
  prompt: `p${i}`,
  policy: `policy ${i}`,
  // Every tenth pair is equal.
  other: i % 10 === 0 ? `policy ${i}` : `other ${i}`,
}));
const compared = { step: 7, against: 'reference', pairs };
const build = (kind: 'pair' | 'rating', seed = 0) =>
  buildComparison(compared, { kind, run: '/runs/a', seed });

describe('buildComparison()', () => {
  it('makes a task per prompt whose responses differ, with shuffled sides', () => {
    const { tasks, compare } = build('pair');
    expect(compare).toEqual({
      ...{ run: '/runs/a', step: 7, against: 'reference', prompts: 40, equal: 4 },
    });
    expect(tasks.map(({ id }) => id)).toEqual(Array.from({ length: 36 }, (_, i) => String(i + 1)));
    const policyFirst = tasks.filter(({ responses }) => responses[0]!.from.side === 'policy');
    // Binomial with n = 36: 18 ± 3 standard deviations.
    expect(policyFirst.length).toBeGreaterThan(8);
    expect(policyFirst.length).toBeLessThan(28);
    for (const { prompt, responses } of tasks) {
      for (const { text, from } of responses) {
        expect(prompt).toBe(`p${from.prompt}`);
        expect(text).toBe(`${from.side} ${from.prompt}`);
      }
    }
  });

  it('makes a task per response for ratings, the two of a prompt apart', () => {
    const { tasks } = build('rating');
    expect(tasks).toHaveLength(72);
    expect(tasks.every(({ responses }) => responses.length === 1)).toBe(true);
    const prompts = tasks.map(({ prompt }) => prompt);
    expect(prompts.filter((prompt, i) => prompt === prompts[i + 1]).length).toBeLessThan(10);
  });

  it('gives the same tasks for the same seed and others for another', () => {
    expect(build('pair', 1)).toEqual(build('pair', 1));
    expect(build('pair', 1)).not.toEqual(build('pair', 2));
  });
});
