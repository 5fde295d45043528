import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  keepCheckpoints,
  statefulConfig,
  trainTiny,
  withoutTimes,
} from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { type StepControl, stoppedOnRequest } from './step-control.ts';

/** Returns the next answer on each call, then `continue`. */
function script(...words: readonly ('continue' | 'save' | 'stop')[]) {
  const asked: number[] = [];
  const control: StepControl = {
    betweenSteps: async (step) => words[asked.push(step) - 1] ?? 'continue',
  };
  return { control, asked };
}

describe('StepControl', () => {
  it('is called before each step, and again after a save', async () => {
    const saved: number[] = [];
    const saveCheckpoint = async (_: unknown, { step }: { step: number }) => {
      saved.push(step);
      return '';
    };
    const { control, asked } = script('continue', 'save', 'continue', 'continue', 'save', 'save');
    await trainTiny(statefulConfig, { maxSteps: 4, saveInterval: 0, saveCheckpoint, control });
    expect(asked).toEqual([0, 1, 1, 2, 3, 3, 3]);
    expect(saved).toEqual([1, 3, 4]);
  });

  it.each<PPOConfigOptions>([
    {},
    { loraLayers: 1 },
    { valueLoraLayers: 1, keepPasses: true },
    { basePrecision: 'int8' },
    { basePrecision: 'int8', loraLayers: 1 },
  ])('ends a run, which then resumes exactly: %o', async (changes) => {
    const folder = makeTempFolder();
    const config = { ...statefulConfig, ...changes };
    const whole = await trainTiny(config);
    const { control } = script('continue', 'continue', 'stop');
    const saveCheckpoint = keepCheckpoints(folder);
    const stopped = await trainTiny(config, { saveCheckpoint, control });
    expect(stopped.results).toMatchObject({
      ...{ steps: 2, reason: 'interrupted', message: stoppedOnRequest },
    });
    const resumeFrom = join(folder, 'checkpoint-2');
    const resumed = await trainTiny(config, { resumeFrom });
    expect(resumed.weights).toEqual(whole.weights);
    const steps = (run: typeof whole) =>
      withoutTimes(run.events.filter(({ type }) => type === 'step'));
    expect([...steps(stopped), ...steps(resumed)]).toEqual(steps(whole));
  });
});
