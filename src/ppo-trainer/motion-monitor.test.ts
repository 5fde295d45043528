import { describe, expect, test } from 'vitest';
import { trainTiny } from '../../test/helpers/ppo-run.ts';
import type { Metrics, TrainEvent } from '../loop/index.ts';
import { MotionMonitor } from './motion-monitor.ts';

const warningsOf = (events: readonly TrainEvent[]) =>
  events.flatMap((event) => (event.type === 'warning' ? [event] : []));

describe('a run with a policy that barely moves', () => {
  const config = { maxNewTokens: 6, batchSize: 6, samplesPerPrompt: 2 };

  test('warns once, after five steps, and names the learning rate', async () => {
    const { events } = await trainTiny({ ...config, learningRate: 1e-7 }, { numEpochs: 8 });
    expect(warningsOf(events)).toEqual([
      {
        type: 'warning',
        step: 5,
        message: expect.stringMatching(
          /^The policy barely moves: after 5 steps the KL from the reference is 0\.0000\d+ nats per response, ratios differ from 1 by 0\.00000\d+ and the reward is flat at 0\.\d+; raise learningRate \(--learning-rate\), now 1e-7, for example to 0\.0001: /,
        ),
      },
    ]);
  });

  test('is not reported at a learning rate of 1e-3', async () => {
    const { events } = await trainTiny({ ...config, learningRate: 1e-3 }, { numEpochs: 6 });
    expect(warningsOf(events)).toEqual([]);
  });

  test('has another cause if all responses score the same', async () => {
    const options = { rewards: { constant: () => 1 } };
    const { events } = await trainTiny(
      { ...config, learningRate: 1e-7 },
      { numEpochs: 5 },
      options,
    );
    expect(warningsOf(events).map(({ message }) => message)).toEqual([
      expect.stringMatching(/flat at 1, because all responses score the same; use a reward/),
    ]);
  });
});

describe('MotionMonitor', () => {
  const still: Metrics = {
    ...{ lr: 1e-5, 'objective/kl': 0.001, 'objective/scores': 1, 'rewards/a/std': 0.5 },
    ...{ 'val/ratio': 1, 'val/ratio_var': 0 },
  };
  const follow = (monitor: MotionMonitor, steps: readonly Metrics[]) =>
    steps.map((metrics) => monitor.update(metrics) !== undefined);
  const monitorOf = () => new MotionMonitor({ learningRate: 1e-5 });

  test.each<[string, Metrics[], number]>([
    ['five still steps', [still, still, still, still, still, still], 4],
    ['warm-up does not count', [{ ...still, lr: 1e-6 }, still, still, still, still, still], 5],
    ['a KL of 0.01', [still, { ...still, 'objective/kl': -0.01 }, still, still, still, still], -1],
    ['ratios that differ', [still, { ...still, 'val/ratio_var': 1e-4 }, still, still, still], -1],
    [
      'a reward that rises',
      [1, 2.01, 3, 3.99, 5].map((score) => ({ ...still, 'objective/scores': score })),
      -1,
    ],
  ])('%s', (_, steps, warned) => {
    expect(follow(monitorOf(), steps).indexOf(true)).toBe(warned);
  });

  test('continues from its state', () => {
    const first = monitorOf();
    follow(first, [still, still, still]);
    const second = monitorOf();
    second.restore(JSON.parse(JSON.stringify(first.state())));
    expect(follow(second, [still, still, still])).toEqual([false, true, false]);
  });
});
