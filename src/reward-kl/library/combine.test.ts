import { describe, expect, test } from 'vitest';
import { toWeightedSources } from '../to-weighted-sources.ts';
import { brevity } from './brevity.ts';
import { combine } from './combine.ts';

describe('combine()', () => {
  test('names and weighs rewards as toWeightedSources() takes them', () => {
    const short = brevity();
    const polite = () => 1;
    const rewards = combine({ short: [short, 0.5], polite });
    expect(rewards).toEqual({
      short: { source: short, weight: 0.5 },
      polite: { source: polite, weight: 1 },
    });
    const sources = toWeightedSources(rewards);
    expect(sources.map(({ source, weight }) => [source.name, weight])).toEqual([
      ['short', 0.5],
      ['polite', 1],
    ]);
  });
});
