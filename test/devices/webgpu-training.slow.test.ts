import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { input, makeGraph, matmul, sum } from '../../src/engine/graph/index.ts';
import {
  compile,
  countDeviceTensors,
  DeviceError,
  tensor,
} from '../../src/engine/runtime/index.ts';
import type { TrainEvent } from '../../src/loop/index.ts';
import { BaseModel, type LoadedModel } from '../../src/models/index.ts';
import { useSwiftShader } from '../helpers/devices/swift-shader.ts';
import { tinyModel, tinyTokenizer } from '../helpers/generation-tiny-model.ts';
import { keepCheckpoints, statefulConfig, trainTiny } from '../helpers/ppo-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

const hasGpu = useSwiftShader();
if (!hasGpu) console.warn('WebGPU is not tested: it needs the package chromium, for SwiftShader');

/** A model of one layer on a device; SwiftShader takes a second for a step of it. */
function tinyOn(device: 'cpu' | 'webgpu'): LoadedModel {
  const { architecture, weights } = tinyModel(1, { layers: 1 });
  const base = new BaseModel(architecture, weights, { device });
  return { base, tokenizer: tinyTokenizer(), folder: 'tiny' };
}

describe.skipIf(!hasGpu)('PPO on WebGPU (SwiftShader)', () => {
  test('learns as much as on the processor, with as much memory after 100 steps as after two', async () => {
    const config = {
      ...{ maxNewTokens: 4, batchSize: 3, samplesPerPrompt: 4, ppoEpochs: 1, loraR: 4, seed: 3 },
      ...{ learningRate: 5e-2, valueLearningRate: 5e-2, klCoef: 0.01 },
    };
    const memory: number[] = [];
    const learn = async (device: 'cpu' | 'webgpu') => {
      const model = tinyOn(device);
      const scores: number[] = [];
      const onEvent = (event: TrainEvent) => {
        if (event.type !== 'step') return;
        scores.push(event.metrics['objective/scores']!);
        memory.push(countDeviceTensors().bytes);
      };
      await trainTiny({ ...config, device }, { numEpochs: 50, onEvent }, { model });
      await model.base.dispose();
      return { first: scores[0]!, gain: mean(scores.slice(-10)) - mean(scores.slice(0, 10)) };
    };
    const cpu = await learn('cpu');
    memory.length = 0;
    const gpu = await learn('webgpu');
    expect(memory).toHaveLength(100);
    expect(new Set(memory.slice(1)).size).toBe(1);
    expect(countDeviceTensors()).toEqual({ tensors: 0, bytes: 0 });
    expect(gpu.first).toBeCloseTo(cpu.first, 3);
    expect(cpu.gain).toBeGreaterThan(0.2);
    expect(gpu.gain).toBeGreaterThan(0.2);
    expect(Math.abs(gpu.gain - cpu.gain)).toBeLessThan(0.15);
  }, 900_000);

  test('resumes exactly', async () => {
    const config = { ...statefulConfig, maxNewTokens: 4, ppoEpochs: 1, device: 'webgpu' } as const;
    const folder = makeTempFolder();
    const model = tinyOn('webgpu');
    const steps = { maxSteps: 4 };
    const saved = { ...steps, saveInterval: 1, saveCheckpoint: keepCheckpoints(folder) };
    const whole = await trainTiny(config, saved, { model });
    const resumeFrom = join(folder, 'checkpoint-2');
    const resumed = await trainTiny(config, { ...steps, resumeFrom }, { model });
    expect(resumed.weights).toEqual(whole.weights);
    await model.base.dispose();
  }, 600_000);

  test('fails with one sentence if a tensor does not fit, and can run the next graph', async () => {
    const product = matmul(input('a', ['N', 1]), input('b', [1, 'N']));
    const graph = await compile(makeGraph({ y: sum(product) }), { device: 'webgpu' });
    const run = (size: number) => {
      const ones = new Float32Array(size).fill(1);
      return graph.run({ a: tensor(ones, [size, 1]), b: tensor(ones, [1, size]) });
    };
    const error = await run(40_000).catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(DeviceError);
    expect((error as Error).message).toMatch(
      /^Cannot run on device webgpu: its memory is full \(WebGPU validation failed.*\); run fewer tokens or texts at once, or use device cpu$/,
    );
    expect((await run(10)).y!.data[0]).toBe(100);
    await graph.dispose();
  }, 120_000);

  test('trains, resumes on the processor, evaluates and generates by the command line', async () => {
    const folder = await makeTrainFolder();
    const [config, output] = [join(folder, 'train.yaml'), join(folder, 'run')];
    const gpu = ['--device', 'webgpu'];
    const short = ['--max-new-tokens', '2', '--eval-interval', '0'];
    const trained = await runInProcess(
      ...['train', '--config', config, '--output', output, '--max-steps', '2', ...gpu, ...short],
    );
    expect(trained.stderr).not.toContain('Cannot');
    expect(trained.status).toBe(0);
    const resumed = await runInProcess(
      ...['train', '--resume', output, '--max-steps', '3', '--device', 'cpu'],
    );
    expect(resumed.stderr).toContain('The checkpoint is of device webgpu and continues on cpu');
    expect(resumed.status).toBe(0);
    const model = join(folder, 'model');
    const text = ['--prompt', 'the cat', '--temperature', '0', '--max-new-tokens', '3'];
    const [ours, theirs] = [
      await runInProcess('generate', '--model', model, '--adapter', output, ...text, ...gpu),
      await runInProcess('generate', '--model', model, '--adapter', output, ...text),
    ];
    expect(ours).toMatchObject({ status: 0, stdout: theirs.stdout });
    const evaluated = await runInProcess('evaluate', '--adapter', output, ...gpu, '--json');
    expect(evaluated.stderr).not.toContain('Cannot');
    expect(evaluated.status).toBe(0);
    const inspected = await runInProcess('inspect', '--model', model);
    expect(inspected.stdout).toMatch(/webgpu {2}the driver's first adapter/);
  }, 900_000);
});

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
