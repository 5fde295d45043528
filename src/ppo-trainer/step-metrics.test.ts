import { describe, expect, it } from 'vitest';
import { EpochAverages } from '../loop/train-loop.ts';
import { averageMetrics } from './step-metrics.ts';

describe('averageMetrics()', () => {
  it('averages each metric over the steps that have it', () => {
    expect(averageMetrics([{ a: 1, b: 5 }, { a: 3 }])).toEqual({ a: 2, b: 5 });
  });
});

describe('EpochAverages', () => {
  it('averages over the steps in which a metric is a number, then starts over', () => {
    const averages = new EpochAverages();
    averages.add({ a: 1, b: Number.NaN });
    averages.add({ a: 2, b: 4 });
    expect(averages.take()).toEqual({ a: 1.5, b: 4 });
    averages.add({ a: 7 });
    expect(averages.take()).toEqual({ a: 7 });
  });

  it('continues from a state that went through JSON', () => {
    const [whole, cut] = [new EpochAverages(), new EpochAverages()];
    for (const x of [0.1, 0.2, 1 / 3]) whole.add({ x, never: Number.NaN });
    cut.add({ x: 0.1, never: Number.NaN });
    const resumed = new EpochAverages();
    resumed.restore(JSON.parse(JSON.stringify(cut.state())));
    for (const x of [0.2, 1 / 3]) resumed.add({ x, never: Number.NaN });
    expect(resumed.take()).toEqual(whole.take());
  });
});
