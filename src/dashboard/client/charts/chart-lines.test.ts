import { describe, expect, test } from 'vitest';
import { chartLines } from './chart-lines.ts';

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
  test('gives each metric of one run a colour', () => {
    const spec = { title: 'Time', metrics: ['timing/score', 'timing/update', 'timing/none'] };
    expect(chartLines(spec, runs.slice(1))).toEqual([
      { ...points, label: 'score', name: 'timing/score', colour: 0, dash: 0, isNoisy: true },
      { ...points, label: 'update', name: 'timing/update', colour: 1, dash: 0, isNoisy: true },
    ]);
  });

  test('gives each of several runs a colour', () => {
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

  test('takes evaluations as they are', () => {
    const evaluated = { name: 'a', colour: 0, series: new Map([['eval/kl', points]]) };
    expect(chartLines({ title: 'KL', metrics: ['eval/kl'] }, [evaluated])[0]!.isNoisy).toBe(false);
  });
});
