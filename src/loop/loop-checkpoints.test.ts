import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  countX,
  keepCheckpoints,
  statefulConfig,
  tinyLoaded,
  tinyPrompts,
  trainedWeights,
  trainTiny,
} from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { PPOTrainer, type TrainOptions } from '../ppo-trainer/index.ts';
import { SFTTrainer } from '../stages/index.ts';
import type { TrainEvent } from './events.ts';

const course: TrainOptions = { numEpochs: 2, saveInterval: 2, keepCheckpoints: 2 };

const savedSteps = (events: readonly TrainEvent[]) =>
  events.flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []));

describe('train() with an output folder', () => {
  it('saves a checkpoint every saveInterval steps, from which it resumes exactly', async () => {
    const output = makeTempFolder();
    const whole = await trainTiny(statefulConfig, { ...course, output });
    expect(savedSteps(whole.events)).toEqual([2, 4, 6]);
    const at = (step: number) => join(output, 'checkpoints', `checkpoint-00000${step}`);
    expect(whole.results.checkpoints).toEqual({ last: at(6), best: undefined });
    const resumed = await trainTiny(statefulConfig, { ...course, output, resumeFrom: at(4) });
    expect(resumed.weights).toEqual(whole.weights);
  });

  it('resumes from the newest intact checkpoint of the folder, with a warning about others', async () => {
    const output = makeTempFolder();
    const stop = new AbortController();
    const onEvent = ({ type, step }: TrainEvent) => {
      if (type === 'step' && step === 5) stop.abort();
    };
    const interrupted = await trainTiny(statefulConfig, {
      ...{ ...course, output, onEvent, signal: stop.signal },
    });
    expect(interrupted.results).toMatchObject({ reason: 'interrupted', steps: 5 });
    await rm(join(output, 'checkpoints', 'checkpoint-000005', 'state.json'));
    const resumed = await trainTiny(statefulConfig, { ...course, output, resumeFrom: output });
    const [warning, start] = resumed.events;
    expect(warning).toMatchObject({
      type: 'warning',
      step: 4,
      message: expect.stringMatching(/^Skipping .*checkpoint-000005: /),
    });
    expect(start).toMatchObject({ type: 'run-start', step: 4 });
    expect(resumed.weights).toEqual((await trainTiny(statefulConfig, course)).weights);
  });

  it('keeps the best checkpoint, which loadCheckpoint() restores', async () => {
    const output = makeTempFolder();
    const validation = { validationPrompts: ['x', 'y'], evalInterval: 1, stopOnCollapse: false };
    const trainer = new PPOTrainer(statefulConfig, { model: tinyLoaded, rewards: countX });
    const [rewards, weights]: [number[], Record<string, Float32Array>[]] = [[], []];
    const { checkpoints } = await trainer.train(tinyPrompts, {
      ...{ ...course, ...validation, output, saveInterval: 0, keepCheckpoints: 1 },
      onEvent: async (event) => {
        if (event.type !== 'evaluation') return;
        rewards.push(event.metrics['eval/reward']!);
        weights.push(await trainedWeights(trainer));
      },
    });
    const best = rewards.indexOf(Math.max(...rewards));
    const file = join(output, 'checkpoints', 'best.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ step: best });
    await trainer.loadCheckpoint(checkpoints!.best!);
    expect(await trainedWeights(trainer)).toEqual(weights[best]);
  });

  it('saves nothing without a folder', async () => {
    const { events, results } = await trainTiny(statefulConfig, { ...course, maxSteps: 2 });
    expect(savedSteps(events)).toEqual([]);
    expect(results.checkpoints).toBeUndefined();
  });

  it('rejects a folder with the checkpoints of another training', async () => {
    const output = makeTempFolder();
    await trainTiny(statefulConfig, { ...course, output, maxSteps: 2 });
    await expect(trainTiny(statefulConfig, { ...course, output })).rejects.toThrow(
      `Cannot save checkpoints in ${output}: it must have none of another training, got one of step 2; resume with resumeFrom: "${output}" or choose another output`,
    );
  });

  it('rejects a folder without checkpoints, and two places for checkpoints', async () => {
    const output = makeTempFolder();
    await expect(trainTiny(statefulConfig, { resumeFrom: output })).rejects.toThrow(
      `Cannot resume from ${output}: it must be a checkpoint or contain checkpoints, got neither`,
    );
    const saveCheckpoint = keepCheckpoints(output);
    await expect(trainTiny(statefulConfig, { output, saveCheckpoint })).rejects.toThrow(
      'only one of output and saveCheckpoint may be set, got both',
    );
  });

  it('works for supervised fine-tuning', async () => {
    const output = makeTempFolder();
    const text = { tokens: Int32Array.of(5, 6, 7, 8), learned: Int32Array.of(1, 2, 3) };
    const train = async (options: object) => {
      const trainer = new SFTTrainer(
        { numEpochs: 4, batchSize: 1, learningRate: 1e-2, loraR: 4, saveInterval: 2 },
        { model: tinyLoaded },
      );
      const { checkpoints } = await trainer.train([text], options);
      const { adapter } = await trainer.model();
      return { checkpoints, weights: [...adapter!.weights.values()].map(({ data }) => data) };
    };
    const whole = await train({ output });
    expect(whole.checkpoints!.last).toBe(join(output, 'checkpoints', 'checkpoint-000004'));
    await rm(whole.checkpoints!.last!, { recursive: true });
    expect((await train({ output, resumeFrom: output })).weights).toEqual(whole.weights);
  });
});
