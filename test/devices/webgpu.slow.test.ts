import { describe, expect, test } from 'vitest';
import { backendOf, countDeviceTensors } from '../../src/engine/runtime/index.ts';
import {
  compareDevices,
  compareModels,
  compareUpdate,
  worstOf,
} from '../helpers/devices/conformance.ts';
import { ProfiledBackend } from '../helpers/devices/profiled-backend.ts';
import { useSwiftShader } from '../helpers/devices/swift-shader.ts';

const hasGpu = useSwiftShader();
if (!hasGpu) console.warn('WebGPU is not tested: it needs the package chromium, for SwiftShader');

describe.skipIf(!hasGpu)('WebGPU on SwiftShader', () => {
  test('computes what the processor does, within 1e-4, and frees all its memory', async () => {
    const wrong: string[] = [];
    let count = 0;
    for await (const { name, error } of compareDevices(backendOf('webgpu'))) {
      count++;
      if (!(error < 1e-4)) wrong.push(`${name}: ${error}`);
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(190);
    expect(countDeviceTensors()).toEqual({ tensors: 0, bytes: 0 });
  }, 1_200_000);

  test('runs layers, gradients, heads and decoding without falling back to the processor', async () => {
    const backend = new ProfiledBackend();
    const models = ['qwen3-tied', 'gpt2-default'];
    expect(await worstOf(compareModels(backend, models))).toBeLessThan(1e-4);
    expect(await worstOf(compareUpdate(backend))).toBeLessThan(1e-4);
    expect(backend.floatOps().get('MatMul')).toEqual({
      WebGpuExecutionProvider: expect.any(Number),
    });
    expect(backend.fallbacks()).toEqual([]);
    backend.close();
  }, 600_000);
});
