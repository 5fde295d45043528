import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BaseModel, type LoadedModel } from '../../src/models/index.ts';
import { FailingBackend } from '../helpers/devices/failing-backend.ts';
import { keepCheckpoints, statefulConfig, tinyLoaded, trainTiny } from '../helpers/ppo-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const gpuConfig = { ...statefulConfig, device: 'webgpu' } as const;

/** Trains until the device fails in the third step; checkpoints are saved only at the end. */
async function failInThirdStep(message: string) {
  const device = new FailingBackend();
  const { architecture, weights } = tinyLoaded.base;
  const model: LoadedModel = {
    ...tinyLoaded,
    base: new BaseModel(architecture, weights, { device }),
  };
  const folder = makeTempFolder();
  const error = await trainTiny(
    gpuConfig,
    {
      ...{ saveInterval: 0, saveCheckpoint: keepCheckpoints(folder) },
      onEvent: (event) => {
        if (event.type === 'step' && event.step === 2) device.fail(message);
      },
    },
    { model },
  ).catch((caught: Error) => caught);
  device.fail(undefined);
  await model.base.dispose();
  return { folder, message: (error as Error).message };
}

describe('a run whose device fails', () => {
  test('keeps its completed steps if the device is lost, and continues exactly on the processor', async () => {
    const { folder, message } = await failInThirdStep('WebGPU device lost (2): driver reset');
    expect(message).toBe(
      'Cannot complete step 3: Cannot run on device webgpu: it was lost (WebGPU device lost (2): driver reset); resume from the last checkpoint, on device cpu if it is lost again; the state after step 2 is saved',
    );
    const whole = await trainTiny(statefulConfig);
    const resumeFrom = join(folder, 'checkpoint-2');
    const resumed = await trainTiny({ ...statefulConfig, device: 'cpu' }, { resumeFrom });
    // Behind the failing device is the processor, so even the bits are the same.
    expect(resumed.weights).toEqual(whole.weights);
    expect(resumed.events).toContainEqual({
      ...{ type: 'warning', step: 2 },
      message:
        'The checkpoint is of device webgpu and continues on cpu: results differ from an uninterrupted run in their last digits',
    });
  });

  test('names the settings of the step if the memory of the device is full', async () => {
    const { message } = await failInThirdStep(
      'WebGPU validation failed. Buffer size (6400) exceeds the max buffer size limit (1000).',
    );
    expect(message).toBe(
      'Cannot complete step 3: Cannot run on device webgpu: its memory is full (WebGPU validation failed. Buffer size (6400) exceeds the max buffer size limit (1000).); the step runs with maxTokensAtOnce 1024, microBatchSize 1, batchSize 2, samplesPerPrompt 2, maxNewTokens 6: lower one of them, or use device cpu; the state after step 2 is saved',
    );
  });
});
