import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chartLines, layOutCharts } from './chart-layout.ts';

describe('layOutCharts()', () => {
  test('puts evaluations first', () => {
    const sections = layOutCharts([
      'objective/kl',
      'eval/reward',
      'eval/rewards/a/mean',
      'eval/kl',
    ]);
    expect(sections[0]).toEqual({
      title: 'Evaluation',
      charts: [
        { title: 'Validation reward', metrics: ['eval/reward'] },
        { title: 'Validation reward by source', metrics: ['eval/rewards/a/mean'] },
        { title: 'Validation KL', metrics: ['eval/kl'] },
      ],
    });
  });

  test('groups related metrics and gives each of the rest its own chart', () => {
    const names = ['step', 'kl_div', 'objective/kl', 'lr', 'rewards/b/mean', 'rewards/a/mean'];
    expect(layOutCharts([...names, 'a', 'timing/score', 'timing/update'])).toEqual([
      {
        title: 'Reward and KL',
        charts: [
          { title: 'Reward by source', metrics: ['rewards/b/mean', 'rewards/a/mean'] },
          { title: 'KL to the reference', metrics: ['objective/kl'] },
        ],
      },
      {
        title: 'Responses, speed and memory',
        charts: [
          { title: 'Time by phase', metrics: ['timing/score', 'timing/update'], isStacked: true },
        ],
      },
      {
        title: 'More',
        charts: [
          { title: 'a', metrics: ['a'] },
          { title: 'lr', metrics: ['lr'] },
        ],
      },
    ]);
  });

  test('training and validation metrics of a stage share a chart', () => {
    expect(layOutCharts(['train/loss', 'eval/loss'])).toEqual([
      { title: 'Learning', charts: [{ title: 'Loss', metrics: ['train/loss', 'eval/loss'] }] },
    ]);
  });

  test('shows every metric exactly once', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('objective/kl', 'rewards/x/mean', 'timing/y', 'eval/kl'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const shown = layOutCharts(names).flatMap(({ charts }) => charts.flatMap((c) => c.metrics));
        const hidden = ['step', 'epoch', 'policy_loss', 'value_loss', 'kl_div', 'avg_reward'];
        const expected = names.filter((one) => !hidden.includes(one));
        expect(shown.toSorted()).toEqual(expected.toSorted());
      }),
    );
  });
});

const points = { steps: [1], values: [2] };
const series = new Map([
  ['objective/kl', points],
  ['timing/score', points],
  ['timing/update', points],
]);
const runs = [
  { name: 'a', colour: 0, series },
  { name: 'b', colour: 3, series },
];

describe('chartLines()', () => {
  test('gives each metric of a single run its own colour', () => {
    const spec = { title: 'Time', metrics: ['timing/score', 'timing/update', 'timing/none'] };
    expect(chartLines(spec, runs.slice(1))).toEqual([
      { ...points, label: 'score', name: 'timing/score', colour: 0, dash: 0, isNoisy: true },
      { ...points, label: 'update', name: 'timing/update', colour: 1, dash: 0, isNoisy: true },
    ]);
  });

  test('gives each of several runs its own colour', () => {
    expect(chartLines({ title: 'KL', metrics: ['objective/kl'] }, runs)).toEqual([
      { ...points, label: 'a', name: 'a objective/kl', colour: 0, dash: 0, isNoisy: true },
      { ...points, label: 'b', name: 'b objective/kl', colour: 3, dash: 0, isNoisy: true },
    ]);
    const spec = { title: 'Time', metrics: ['timing/score', 'timing/update'] };
    expect(chartLines(spec, runs).map(({ label, dash }) => [label, dash])).toEqual([
      ['score · a', 0],
      ['update · a', 1],
      ['score · b', 0],
      ['update · b', 1],
    ]);
  });

  test('does not smooth evaluations', () => {
    const evaluated = { name: 'a', colour: 0, series: new Map([['eval/kl', points]]) };
    expect(chartLines({ title: 'KL', metrics: ['eval/kl'] }, [evaluated])[0]!.isNoisy).toBe(false);
  });
});
