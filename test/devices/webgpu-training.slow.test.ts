import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countDeviceTensors } from '../../src/engine/runtime/index.ts';
import { BaseModel, type LoadedModel } from '../../src/models/index.ts';
import { useSwiftShader } from '../helpers/devices/swift-shader.ts';
import { keepCheckpoints, statefulConfig, tinyLoaded, trainTiny } from '../helpers/ppo-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const hasGpu = useSwiftShader();
if (!hasGpu) console.warn('WebGPU is not tested: it needs the package chromium, for SwiftShader');

/** The tiny model on a device. */
function tinyOn(device: 'cpu' | 'webgpu', layersPerSession: number): LoadedModel {
  const { architecture, weights } = tinyLoaded.base;
  return {
    ...tinyLoaded,
    base: new BaseModel(architecture, weights, { device, layersPerSession }),
  };
}

describe.skipIf(!hasGpu)('PPO on WebGPU (SwiftShader)', () => {
  // With one layer per session, tapes and prompts are saved; with both, forward and backward are one run.
  test.each([1, 2])(
    'resumes exactly, %i layers per session',
    async (layersPerSession) => {
      const folder = makeTempFolder();
      const config = { ...statefulConfig, device: 'webgpu' } as const;
      const model = tinyOn('webgpu', layersPerSession);
      const saved = { saveInterval: 1, saveCheckpoint: keepCheckpoints(folder) };
      const whole = await trainTiny(config, saved, { model });
      const resumeFrom = join(folder, 'checkpoint-3');
      const resumed = await trainTiny(config, { resumeFrom }, { model });
      expect(resumed.weights).toEqual(whole.weights);
      await model.base.dispose();
    },
    600_000,
  );

  test('learns as much as on the processor, with as much memory after 100 steps as after two', async () => {
    const config = {
      ...{ maxNewTokens: 4, batchSize: 3, samplesPerPrompt: 4, ppoEpochs: 2, loraR: 4, seed: 3 },
      ...{ learningRate: 2e-2, valueLearningRate: 2e-2, klCoef: 0.01 },
    };
    const memory: number[] = [];
    const rewards = { cpu: [] as number[], webgpu: [] as number[] };
    for (const device of ['cpu', 'webgpu'] as const) {
      const model = tinyOn(device, 1);
      await trainTiny(
        { ...config, device },
        {
          numEpochs: 50,
          onEvent: (event) => {
            if (event.type !== 'step') return;
            rewards[device].push(event.metrics['objective/scores']!);
            if (device === 'webgpu') memory.push(countDeviceTensors().bytes);
          },
        },
        { model },
      );
      await model.base.dispose();
    }
    const gain = (scores: readonly number[]) => mean(scores.slice(-10)) - mean(scores.slice(0, 10));
    expect(memory).toHaveLength(100);
    expect(new Set(memory.slice(1)).size).toBe(1);
    expect(gain(rewards.cpu)).toBeGreaterThan(0.1);
    expect(gain(rewards.webgpu)).toBeGreaterThan(0.1);
    expect(Math.abs(rewards.webgpu[0]! - rewards.cpu[0]!)).toBeLessThan(1e-3);
  }, 1_800_000);

  test('warns if a run continues on another device', async () => {
    const folder = makeTempFolder();
    const saved = { saveInterval: 1, saveCheckpoint: keepCheckpoints(folder) };
    const gpu = tinyOn('webgpu', 1);
    await trainTiny(
      { ...statefulConfig, device: 'webgpu' },
      { ...saved, maxSteps: 2 },
      { model: gpu },
    );
    await gpu.base.dispose();
    const resumeFrom = join(folder, 'checkpoint-1');
    const { events } = await trainTiny({ ...statefulConfig }, { resumeFrom, maxSteps: 2 });
    expect(events.filter(({ type }) => type === 'warning')).toContainEqual({
      type: 'warning',
      message:
        'The checkpoint is of device webgpu and continues on cpu: results differ from an uninterrupted run in their last digits',
    });
  }, 600_000);
});

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
