import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  countX,
  keepCheckpoints,
  statefulConfig,
  type TinyRun,
  trainTiny,
  withoutTimes,
} from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { TrainEvent } from '../loop/events.ts';
import type { PPOComponents } from '../ppo-trainer/components.ts';
import type { TrainOptions } from '../ppo-trainer/ppo-trainer.ts';
import { NonFiniteError } from './train-loop.ts';

const course: TrainOptions = {
  numEpochs: 2,
  saveInterval: 1,
  evalInterval: 2,
  validationPrompts: ['x', 'y'],
  evalBestOf: 2,
  stopOnCollapse: false,
};

/** The events that a run emits after a step. */
function eventsAfter({ events }: TinyRun, step: number): unknown[] {
  return withoutTimes(events.filter((event) => event.type !== 'run-start' && event.step > step));
}

/** Sets a weight of the policy to a huge number before an optimiser step. */
function overflowAtCall(call: number) {
  let calls = 0;
  return ({ modelTrainer, policy }: PPOComponents) => {
    const trainStep = modelTrainer.trainStep.bind(modelTrainer);
    modelTrainer.trainStep = (...args) => {
      const [weight] = [...policy.adapter!.weights.values()].slice(-1);
      if (++calls === call) weight!.data.fill(3e38);
      return trainStep(...args);
    };
    return {};
  };
}

describe('TrainLoop', () => {
  it('resumes from every checkpoint exactly like an uninterrupted run', async () => {
    const folder = makeTempFolder();
    const saveCheckpoint = keepCheckpoints(folder);
    const whole = await trainTiny(statefulConfig, { ...course, saveCheckpoint });
    expect(whole.results.steps).toBe(6);
    for (let step = 1; step < 6; step++) {
      const resumeFrom = join(folder, `checkpoint-${step}`);
      const resumed = await trainTiny(statefulConfig, { ...course, resumeFrom });
      expect(eventsAfter(resumed, step)).toEqual(eventsAfter(whole, step));
      expect(resumed.weights).toEqual(whole.weights);
    }
  });

  it.each(['generate', 'score', 'update', 'evaluate'] as const)(
    'stops cleanly when interrupted in phase %s, and resumes exactly',
    async (phase) => {
      const folder = makeTempFolder();
      const saveCheckpoint = keepCheckpoints(folder);
      const whole = await trainTiny(statefulConfig, course);
      const stop = new AbortController();
      const onEvent = (event: TrainEvent) => {
        if (event.type === 'phase' && event.phase === phase && event.step === 4) stop.abort();
      };
      const options = { ...course, saveInterval: 0, saveCheckpoint, signal: stop.signal, onEvent };
      const interrupted = await trainTiny(statefulConfig, options);
      expect(interrupted.results.reason).toBe('interrupted');
      const { steps } = interrupted.results;
      const resumeFrom = join(folder, `checkpoint-${steps}`);
      const resumed = await trainTiny(statefulConfig, { ...course, resumeFrom });
      const emitted = [...interrupted.events, ...resumed.events].filter(
        ({ type }) => type !== 'run-start' && type !== 'run-end',
      );
      const expected = whole.events.filter(
        ({ type }) => type !== 'run-start' && type !== 'run-end',
      );
      expect(withoutTimes(emitted)).toEqual(withoutTimes(expected));
      expect(resumed.weights).toEqual(whole.weights);
    },
  );

  it('saves when the validation reward is the best so far, from step 0, and at the end', async () => {
    const saved: string[] = [];
    const { events } = await trainTiny(statefulConfig, {
      ...course,
      saveInterval: 0,
      saveCheckpoint: async (_, { step, isBest }) => {
        saved.push(`${step} ${isBest}`);
        return '';
      },
    });
    const better = events.flatMap((event) =>
      event.type === 'evaluation' && event.report!.convergence.performanceImproved
        ? `${event.step} true`
        : [],
    );
    expect(better.length).toBeGreaterThan(1);
    expect(better[0]).toBe('0 true');
    expect(saved).toEqual(better.at(-1) === '6 true' ? better : [...better, '6 false']);
  });

  it('finds the best checkpoint even if its evaluation was interrupted', async () => {
    const marks = (run: TinyRun) =>
      run.events.flatMap((event) =>
        event.type === 'checkpoint' && event.isBest ? [`${event.step}`] : [],
      );
    const folder = makeTempFolder();
    const saving = { ...course, saveCheckpoint: keepCheckpoints(folder) };
    const whole = await trainTiny(statefulConfig, saving);
    const last = Number(marks(whole).at(-1));
    const stop = new AbortController();
    const onEvent = (event: TrainEvent) => {
      if (event.type === 'phase' && event.phase === 'evaluate' && event.step === last) stop.abort();
    };
    const interrupted = await trainTiny(statefulConfig, {
      ...saving,
      signal: stop.signal,
      onEvent,
    });
    const resumeFrom = join(folder, `checkpoint-${interrupted.results.steps}`);
    const resumed = await trainTiny(statefulConfig, { ...saving, resumeFrom });
    expect([...marks(interrupted), ...marks(resumed)]).toEqual(marks(whole));
  });

  it('a run that a rule stopped stops for the same reason when it is resumed', async () => {
    const folder = makeTempFolder();
    const rules = { ...course, stopOnCollapse: true, maxKl: 1e-6 };
    const stopped = await trainTiny(statefulConfig, {
      ...rules,
      saveCheckpoint: keepCheckpoints(folder),
    });
    const { steps, reason, message, metrics } = stopped.results;
    expect([steps, reason]).toEqual([2, 'diverged']);
    const resumeFrom = join(folder, 'checkpoint-2');
    const resumed = await trainTiny(statefulConfig, { ...rules, resumeFrom });
    expect(resumed.results).toMatchObject({ steps, reason, message });
    expect(resumed.results.metrics).toEqual(metrics);
  });

  it('saves completed work if a reward fails later', async () => {
    const folder = makeTempFolder();
    let calls = 0;
    const failing = trainTiny(
      statefulConfig,
      {
        ...course,
        saveInterval: 0,
        validationPrompts: [],
        saveCheckpoint: keepCheckpoints(folder),
      },
      {
        rewards: {
          judge: (sample) => {
            if (++calls > 8) throw new Error('out of order');
            return countX(sample);
          },
        },
      },
    );
    await expect(failing).rejects.toThrow('out of order');
    const resumeFrom = join(folder, 'checkpoint-2');
    const options = { ...course, saveInterval: 0, validationPrompts: [] };
    const resumed = await trainTiny(statefulConfig, { ...options, resumeFrom });
    const whole = await trainTiny(statefulConfig, options);
    expect(resumed.weights).toEqual(whole.weights);
  });

  it('ends if a listener throws during a phase', async () => {
    const onEvent = ({ type }: TrainEvent) => {
      if (type === 'phase') throw new Error('no more room');
    };
    const failing = trainTiny(statefulConfig, { ...course, validationPrompts: [], onEvent });
    await expect(failing).rejects.toThrow('no more room');
  });

  it('is stopped by a rule of the evaluator, with the reason', async () => {
    const { results, events } = await trainTiny(statefulConfig, {
      ...course,
      stopOnCollapse: true,
      minEntropy: 50,
    });
    expect(results.reason).toBe('collapsed');
    expect(results.message).toContain('minEntropy requires 50');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', step: 0, reason: 'collapsed' });
  });

  it('restores the state before the step if a loss is not finite, and names its origin', async () => {
    const folder = makeTempFolder();
    const whole = await trainTiny(statefulConfig, course);
    const failing = trainTiny(
      statefulConfig,
      { ...course, saveInterval: 0, evalInterval: 0, saveCheckpoint: keepCheckpoints(folder) },
      { replace: overflowAtCall(11) },
    );
    const error = await failing.catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(NonFiniteError);
    expect((error as Error).message).toMatch(
      /^Cannot complete step 3: Cannot run an optimiser step: .* in the policy model, found NaN: .*; the state after step 2 is saved$/,
    );
    const resumed = await trainTiny(statefulConfig, {
      ...course,
      resumeFrom: join(folder, 'checkpoint-2'),
    });
    expect(resumed.weights).toEqual(whole.weights);
  });

  it('rejects a checkpoint with different prompts or settings', async () => {
    const folder = makeTempFolder();
    const saving = { maxSteps: 2, saveCheckpoint: keepCheckpoints(folder) };
    await trainTiny(statefulConfig, saving);
    const resumeFrom = join(folder, 'checkpoint-2');
    for (const [change, message] of [
      [{ shuffle: false }, 'shuffle must be true as when the run started, got false'],
      [{ maxSteps: 1 }, 'maxSteps must be at least the 2 steps that are completed, got 1'],
    ] as const) {
      const resumed = trainTiny(statefulConfig, { maxSteps: 2, resumeFrom, ...change });
      await expect(resumed).rejects.toThrow(`Cannot resume: ${message}`);
    }
  });

  it('rejects a checkpoint with a different config, and names the key', async () => {
    const folder = makeTempFolder();
    const saveCheckpoint = keepCheckpoints(folder);
    await trainTiny(statefulConfig, { maxSteps: 1, saveCheckpoint });
    const resumeFrom = join(folder, 'checkpoint-1');
    await expect(trainTiny({ ...statefulConfig, gamma: 0.5 }, { resumeFrom })).rejects.toThrow(
      'Cannot resume: gamma must be 0.99 as when the run started, got 0.5',
    );
  });
});
