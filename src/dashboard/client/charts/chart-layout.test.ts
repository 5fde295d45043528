import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { layOutCharts } from './chart-layout.ts';

describe('layOutCharts()', () => {
  test('groups what belongs together and gives the rest a chart each', () => {
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

  test('training and validation of a stage share a chart', () => {
    expect(layOutCharts(['train/loss', 'eval/loss'])).toEqual([
      { title: 'Learning', charts: [{ title: 'Loss', metrics: ['train/loss', 'eval/loss'] }] },
    ]);
  });

  test('no metric is lost or shown twice', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('objective/kl', 'rewards/x/mean', 'timing/y', 'eval/kl'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const shown = layOutCharts(names).flatMap(({ charts }) => charts.flatMap((c) => c.metrics));
        const hidden = ['step', 'epoch', 'policy_loss', 'value_loss', 'kl_div', 'avg_reward'];
        const asked = names.filter((one) => !hidden.includes(one));
        expect(shown.toSorted()).toEqual(asked.toSorted());
      }),
    );
  });
});
