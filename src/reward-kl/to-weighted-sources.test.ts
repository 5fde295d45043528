import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import type { RewardSource } from './reward-source.ts';
import { combine, type Rewards, toWeightedSources } from './to-weighted-sources.ts';

const { signal } = new AbortController();
const brevity = () => 1;
const judge: RewardSource = { name: 'judge', timeout: 5, score: async (all) => all.map(() => 2) };

/** Name, weight and score of each. */
const summarise = (rewards: Rewards, fallbackName?: string) => {
  const sources = toWeightedSources(rewards, fallbackName === undefined ? {} : { fallbackName });
  return Promise.all(
    sources.map(async ({ source, weight }) => {
      const [score] = await source.score(samplesOf('ab'), { signal });
      return [source.name, weight, score];
    }),
  );
};

describe('toWeightedSources()', () => {
  test('accepts one function, source or weighted reward', async () => {
    expect(await summarise(brevity)).toEqual([['brevity', 1, 1]]);
    expect(await summarise(judge)).toEqual([['judge', 1, 2]]);
    expect(await summarise({ source: brevity, weight: 0.5 })).toEqual([['brevity', 0.5, 1]]);
    expect(await summarise(() => 3)).toEqual([['reward', 1, 3]]);
    expect(await summarise(() => 3, 'file')).toEqual([['file', 1, 3]]);
  });

  test('accepts a list, and its own result', async () => {
    const rewards = [brevity, { source: judge, weight: -2 }];
    const expected = [
      ['brevity', 1, 1],
      ['judge', -2, 2],
    ];
    expect(await summarise(rewards)).toEqual(expected);
    expect(await summarise(toWeightedSources(rewards))).toEqual(expected);
  });

  test('accepts an object whose keys are the names', async () => {
    const rewards = { short: brevity, polite: { source: judge, weight: 0.5 }, judge };
    expect(await summarise(rewards)).toEqual([
      ['short', 1, 1],
      ['polite', 0.5, 2],
      ['judge', 1, 2],
    ]);
    const [, polite] = toWeightedSources(rewards);
    expect(polite!.source.timeout).toBe(5);
  });

  test('accepts an object with functions named score, name or source', async () => {
    expect(await summarise({ score: brevity, name: brevity })).toEqual([
      ['score', 1, 1],
      ['name', 1, 1],
    ]);
  });

  const forms = 'a reward function, a RewardSource, { source, weight }, or an object of these';
  test.each([
    [undefined, `must be ${forms} by name, got undefined`],
    [7, `must be ${forms} by name, got 7`],
    [{}, `must be ${forms} by name, got an object with nothing`],
    [[], `must be ${forms} by name, got an empty list`],
    [class Judge {}, `must be ${forms} by name, got the class Judge`],
    [
      { a: brevity, b: 'x' },
      'must have a reward function, a RewardSource or { source, weight } as "b", got "x"',
    ],
    [[brevity, { weight: 2 }], '{ source, weight } as "1", got an object with weight'],
    [{ a: { source: brevity, weight: '2' } }, 'must have finite weights, got "2"'],
    [{ source: brevity, weight: Number.NaN }, 'must have finite weights, got NaN'],
  ])('rejects %j', (rewards, problem) => {
    const use = () => toWeightedSources(rewards as Rewards, { subject: 'Cannot use it: it' });
    expect(use).toThrow(/^Cannot use it: it must /);
    expect(use).toThrow(problem);
  });
});

describe('combine()', () => {
  test('returns names and weights that toWeightedSources() accepts', () => {
    const short = () => 0;
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
