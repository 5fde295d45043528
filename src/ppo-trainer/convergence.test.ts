import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveTrainingConfig, type TrainingConfigOptions } from '../config/training-config.ts';
import type { Performance } from '../loop/evaluation-report.ts';
import { ConvergenceMonitor } from './convergence.ts';

const monitorOf = (options: TrainingConfigOptions = {}) =>
  new ConvergenceMonitor(resolveTrainingConfig(options));

/** An evaluation of 16 responses with standard deviation 4: its standard error is 1. */
const performance = (changes: Partial<Performance> = {}): Performance => ({
  prompts: 4,
  rewardInterval: [-2, 2],
  rewards: {},
  finishedRate: 1,
  winRateInterval: [0, 1],
  greedyReward: 0,
  reward: 0,
  rewardStd: 4,
  responses: 16,
  bestOfN: 0,
  winRate: 0.5,
  kl: 1,
  entropy: 2,
  length: 10,
  repetition: 0.1,
  explainedVariance: 0,
  ...changes,
});

const follow = (monitor: ConvergenceMonitor, series: readonly Partial<Performance>[]) =>
  series.map((changes) => monitor.update(performance(changes)));
const rewards = (...values: number[]) => values.map((reward) => ({ reward }));

describe('performanceImproved', () => {
  test('reports whether the reward is above the best so far', () => {
    const verdicts = follow(monitorOf(), rewards(1, 2, 2, 1.5, 2.1));
    expect(verdicts.map((verdict) => verdict.performanceImproved)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ]);
    expect(verdicts.every(({ stop }) => stop === undefined)).toBe(true);
    expect(verdicts.map(({ message }) => message)).toEqual([
      'The first validation reward is 1',
      'The validation reward is 2, its best so far, after 1',
      'The validation reward is 2, not above its best of 2',
      'The validation reward is 1.5, not above its best of 2',
      'The validation reward is 2.1, its best so far, after 2',
    ]);
  });

  test('is false for a policy that broke on its way to a high reward', () => {
    const monitor = monitorOf();
    const [, broken] = follow(monitor, [{ reward: 1 }, { reward: 9, kl: 101 }]);
    expect(broken).toMatchObject({ performanceImproved: false, stop: 'diverged' });
    expect(monitor.state()).toMatchObject({
      best: { reward: 1 },
      lastRise: { reward: 1 },
      evaluationsSinceRise: 1,
    });
  });

  test('is true for the same policy if faults only warn', () => {
    const [, warned] = follow(monitorOf({ stopOnCollapse: false }), [
      { reward: 1 },
      { reward: 9, kl: 101 },
    ]);
    expect(warned).toMatchObject({ performanceImproved: true, stop: undefined });
  });
});

describe('collapse', () => {
  test('an entropy below minEntropy stops training', () => {
    const [before, at, below] = follow(monitorOf(), [
      { entropy: 0.3 },
      { entropy: 0.01 },
      { entropy: 0.002 },
    ]);
    expect([before!.stop, at!.stop]).toEqual([undefined, undefined]);
    expect(below).toMatchObject({
      converged: false,
      performanceImproved: false,
      stop: 'collapsed',
      message:
        'The policy has collapsed: entropy is 0.002 nats per token but minEntropy requires 0.01',
    });
  });

  test('a repetition above maxRepetition stops training', () => {
    const [, at, above] = follow(monitorOf(), [
      { repetition: 0.1 },
      { repetition: 0.8 },
      { repetition: 0.85 },
    ]);
    expect(at!.stop).toBeUndefined();
    expect(above).toMatchObject({
      stop: 'collapsed',
      message:
        'The policy has collapsed: 0.85 of 3-grams are repeated but maxRepetition allows 0.8 and the first evaluation had 0.1',
    });
  });

  test('repetition from the start counts as collapse only when it grows', () => {
    const series = [0.9, 0.9, 0.85, 0.91].map((repetition) => ({ repetition }));
    expect(follow(monitorOf(), series).map(({ stop }) => stop)).toEqual([
      undefined,
      undefined,
      undefined,
      'collapsed',
    ]);
  });
});

describe('divergence', () => {
  test('a KL above maxKl stops training', () => {
    const [at, above] = follow(monitorOf(), [{ kl: 100 }, { kl: 123.456 }]);
    expect(at!.stop).toBeUndefined();
    expect(above).toMatchObject({
      stop: 'diverged',
      message:
        'The policy has diverged from its reference: KL is 123.5 nats per response but maxKl allows 100',
    });
  });

  test('a KL or an entropy of NaN stops training', () => {
    expect(monitorOf().update(performance({ kl: Number.NaN })).stop).toBe('diverged');
    expect(monitorOf().update(performance({ entropy: Number.NaN })).stop).toBe('collapsed');
  });
});

describe('degradation', () => {
  // Both evaluations have a standard error of 1, their difference has √2: 3 · √2 = 4.2426.
  test('a fall by more than maxDegradation standard errors from the best stops training', () => {
    const [, , within, beyond] = follow(monitorOf(), rewards(7, 10, 5.76, 5.75));
    expect(within!.stop).toBeUndefined();
    expect(beyond).toMatchObject({
      stop: 'degraded',
      message:
        'The reward has degraded: 5.75 is 4.25 below its best of 10 but maxDegradation allows 3 standard errors, 4.243',
    });
  });

  test('standard errors of best and current evaluation both count', () => {
    const series = [
      { reward: 10, rewardStd: 3, responses: 9 },
      { reward: 5, rewardStd: 8, responses: 4 },
    ];
    // √(3²/9 + 8²/4) = √17 = 4.1231
    expect(follow(monitorOf({ maxDegradation: 1.2 }), series)[1]!.stop).toBe('degraded');
    expect(follow(monitorOf({ maxDegradation: 1.22 }), series)[1]!.stop).toBeUndefined();
  });

  test('a single response, which has no standard error, never counts as degraded', () => {
    const alone = { rewardStd: 0, responses: 1 };
    const series = [
      { reward: 10, ...alone },
      { reward: -10, ...alone },
    ];
    expect(follow(monitorOf(), series)[1]!.stop).toBeUndefined();
  });

  test('without any spread every fall counts', () => {
    const series = rewards(1, 1, 0.5).map((one) => ({ ...one, rewardStd: 0 }));
    expect(follow(monitorOf(), series).map(({ stop }) => stop)).toEqual([
      undefined,
      undefined,
      'degraded',
    ]);
  });
});

describe('plateau', () => {
  test('plateauPatience evaluations without a rise have converged', () => {
    const verdicts = follow(monitorOf({ plateauPatience: 2 }), rewards(1, 2, 1.9, 2));
    expect(verdicts.map(({ stop }) => stop)).toEqual([
      undefined,
      undefined,
      undefined,
      'converged',
    ]);
    expect(verdicts.map(({ converged }) => converged)).toEqual([false, false, false, true]);
    expect(verdicts[3]!.message).toBe(
      'The reward has converged: it has not risen from 2 by 0.01 standard errors in 2 evaluations',
    );
  });

  // A difference has a standard error of √2: a rise counts above √2/2 = 0.7071.
  test('rises below plateauDelta standard errors do not count until they add up', () => {
    const config = { plateauPatience: 2, plateauDelta: 0.5 };
    const slow = follow(monitorOf(config), rewards(0, 0.5, 0.72, 1.2, 1.4));
    expect(slow.map(({ stop }) => stop)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'converged',
    ]);
    expect(slow.every(({ performanceImproved }) => performanceImproved)).toBe(true);
  });

  test('a patience of 0 never converges', () => {
    const verdicts = follow(monitorOf(), rewards(...Array<number>(20).fill(1)));
    expect(verdicts.some(({ converged }) => converged)).toBe(false);
  });
});

describe('stopOnCollapse: false', () => {
  test.each([
    [{ entropy: 0 }, 'The policy has collapsed: entropy'],
    [{ repetition: 0.9 }, 'The policy has collapsed: 0.9 of 3-grams'],
    [{ kl: 200 }, 'The policy has diverged from its reference'],
    [{ reward: -20 }, 'The reward has degraded'],
  ])('%o warns and continues', (changes, start) => {
    const [, warned] = follow(monitorOf({ stopOnCollapse: false }), [{}, changes]);
    expect(warned).toMatchObject({ stop: undefined, converged: false });
    expect(warned!.message.startsWith(start)).toBe(true);
    expect(warned!.message).toMatch(/; training continues because stopOnCollapse is false$/);
  });

  test('a plateau still stops, and the warning precedes it', () => {
    const config = { stopOnCollapse: false, plateauPatience: 1 };
    const [, stopped] = follow(monitorOf(config), [{}, { kl: 200 }]);
    expect(stopped).toMatchObject({ stop: 'converged', converged: true });
    expect(stopped!.message).toBe(
      'The policy has diverged from its reference: KL is 200 nats per response but maxKl allows 100; ' +
        'the reward has converged: it has not risen from 0 by 0.01 standard errors in one evaluation',
    );
  });
});

describe('any series', () => {
  const value = fc.integer({ min: -20, max: 20 });
  const evaluation = fc.record({
    reward: fc.oneof({ weight: 9, arbitrary: value }, fc.constant(Number.NaN)),
    rewardStd: fc.constantFrom(0, 1, 4),
    responses: fc.constantFrom(1, 4, 16),
    kl: fc.constantFrom(0, 1, 150),
    entropy: fc.constantFrom(0, 1, 2),
    repetition: fc.constantFrom(0, 0.5, 0.81, 0.9),
  });
  const series = fc.array(evaluation, { minLength: 1, maxLength: 12 });
  const config = fc.record({
    plateauPatience: fc.nat(3),
    plateauDelta: fc.constantFrom(0, 0.1, 2),
    stopOnCollapse: fc.boolean(),
  });

  test('that only rises never stops if every rise counts', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, fc.nat(3), (rises, plateauPatience) => {
        const monitor = monitorOf({ plateauPatience, plateauDelta: 0 });
        let reward = -10;
        for (const rise of rises) {
          reward += rise;
          const verdict = monitor.update(performance({ reward }));
          expect(verdict).toMatchObject({ stop: undefined, performanceImproved: true });
        }
      }),
    );
  });

  test('that only rises stops by a plateau alone', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, fc.nat(3), (rises, plateauPatience) => {
        const monitor = monitorOf({ plateauPatience, plateauDelta: 2 });
        let reward = -10;
        for (const rise of rises) {
          reward += rise;
          const { stop } = monitor.update(performance({ reward }));
          expect([undefined, 'converged']).toContain(stop);
        }
      }),
    );
  });

  test('returns the same verdicts after a restore in the middle', () => {
    fc.assert(
      fc.property(series, config, fc.nat(12), (all, options, at) => {
        const whole = follow(monitorOf(options), all);
        const first = monitorOf(options);
        const before = follow(first, all.slice(0, at));
        const second = monitorOf(options);
        second.restore(JSON.parse(JSON.stringify(first.state())));
        expect([...before, ...follow(second, all.slice(at))]).toEqual(whole);
      }),
    );
  });

  test('has as its best the highest reward that improved', () => {
    fc.assert(
      fc.property(series, config, (all, options) => {
        const monitor = monitorOf(options);
        const improved = follow(monitor, all).flatMap(({ performanceImproved }, i) =>
          performanceImproved ? [all[i]!.reward] : [],
        );
        expect(improved).toEqual([...new Set(improved)].sort((a, b) => a - b));
        expect(monitor.state().best?.reward).toBe(improved.at(-1));
      }),
    );
  });
});

describe('trends', () => {
  test('delay convergence until the KL is stable', () => {
    // A change over 4 evaluations counts if it is above 0.2 of the mean.
    const kls = [2, 4, 6, 8, 8, 8, 8];
    const verdicts = follow(
      monitorOf({ plateauPatience: 3 }),
      kls.map((kl) => ({ reward: 1, kl })),
    );
    expect(verdicts.map(({ kl }) => kl.direction)).toEqual([
      ...['unknown', 'unknown', 'unknown', 'rising', 'rising', 'rising'],
      'stable',
    ]);
    expect(verdicts.map(({ stop }) => stop).slice(3)).toEqual([
      ...[undefined, undefined, undefined],
      'converged',
    ]);
    expect(verdicts[3]!.message).toBe(
      'The reward has stopped rising: it has not risen from 1 by 0.01 standard errors in 3 evaluations; training continues: the KL is still rising: by 6 to 8 nats per response over 4 evaluations',
    );
    expect(verdicts[6]).toMatchObject({
      converged: true,
      message: expect.stringMatching(/^The reward has converged: /),
    });
  });

  test('delay convergence while the value model improves, not while it gets worse', () => {
    const verdictOf = (explained: readonly number[]) =>
      follow(
        monitorOf({ plateauPatience: 3 }),
        explained.map((explainedVariance) => ({ reward: 1, explainedVariance })),
      ).at(-1)!;
    const improving = verdictOf([0.2, 0.4, 0.5, 0.7]);
    expect(improving).toMatchObject({ stop: undefined, value: { direction: 'rising' } });
    expect(improving.message).toContain('training continues: the value model is still learning');
    const worse = verdictOf([0.7, 0.5, 0.4, 0.2]);
    expect(worse).toMatchObject({ stop: 'converged', value: { direction: 'falling' } });
    expect(worse.value!.message).toContain('lower learningRate or raise valueLearningRate');
  });

  test('have no value trend without a value model', () => {
    const verdict = monitorOf().update(performance({ explainedVariance: Number.NaN }));
    expect(verdict.value).toBeUndefined();
  });
});

describe('restore()', () => {
  test('rejects a value that state() did not return', () => {
    const monitor = monitorOf();
    expect(() => monitor.restore(null)).toThrow(
      'Cannot restore convergence: the state must be a value that state() returned, got null',
    );
    expect(() => monitor.restore({ ...monitor.state(), best: { reward: 'high' } })).toThrow(
      'Cannot restore convergence: "best.reward" of the state must be a value that state() returned',
    );
  });
});
