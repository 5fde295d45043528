import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { keepCheckpoints } from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { type StepControl, stoppedOnRequest } from '../loop/step-control.ts';
import { SFTTrainer, type SFTTrainOptions } from './sft-trainer.ts';

const text = { tokens: Int32Array.of(5, 6, 7, 8), learned: Int32Array.of(1, 2, 3) };

async function train(options: SFTTrainOptions) {
  const model = { base: tinyModel(1), tokenizer: tinyTokenizer(), folder: 'tiny' };
  const config = { numEpochs: 4, batchSize: 1, learningRate: 1e-2, loraR: 4, saveInterval: 0 };
  const trainer = new SFTTrainer(config, { model });
  const results = await trainer.train([text], options);
  const { adapter } = await trainer.model();
  const weights = [...adapter!.weights].map(([name, { data }]) => [name, data] as const);
  return { results, weights: Object.fromEntries(weights) };
}

describe('StageLoop', () => {
  it('saves and stops on request between steps, and resumes exactly', async () => {
    const folder = makeTempFolder();
    const words = ['continue', 'save', 'continue', 'stop'] as const;
    const asked: number[] = [];
    const control: StepControl = { betweenSteps: async (step) => words[asked.push(step) - 1]! };
    const [saved, messages]: [number[], string[]] = [[], []];
    const stopped = await train({
      control,
      saveCheckpoint: keepCheckpoints(folder),
      onEvent: (event) => {
        if (event.type === 'checkpoint') saved.push(event.step);
        if (event.type === 'run-end') messages.push(event.message);
      },
    });
    expect(asked).toEqual([0, 1, 1, 2]);
    expect(saved).toEqual([1, 2]);
    expect(messages).toEqual([stoppedOnRequest]);
    expect(stopped.results).toMatchObject({ steps: 2, reason: 'interrupted' });
    const resumed = await train({ resumeFrom: join(folder, 'checkpoint-2') });
    expect(resumed.results.steps).toBe(4);
    expect(resumed.weights).toEqual((await train({})).weights);
  });
});
