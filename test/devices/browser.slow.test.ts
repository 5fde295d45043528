import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Backend } from '../../src/engine/runtime/index.ts';
import { Generator } from '../../src/generation/index.ts';
import { loadModel } from '../../src/models/index.ts';
import { BrowserBackend } from '../helpers/devices/browser-backend.ts';
import {
  compareDevices,
  compareGraphs,
  compareModels,
  type Difference,
} from '../helpers/devices/conformance.ts';
import { findBrowser } from '../helpers/find-browser.ts';
import { serveFolder } from '../helpers/playground-server.ts';

const executablePath = findBrowser();
if (executablePath === undefined) {
  console.warn('Browsers are not tested: install chromium, or name one in PROXIMAL_BROWSER');
}
const embedded = fileURLToPath(new URL('../../embedded', import.meta.url));
const runtime = fileURLToPath(new URL('../../node_modules/onnxruntime-web/dist', import.meta.url));

/** Flags for WebGPU on SwiftShader. */
const gpuFlags = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
];

/** onnxruntime-web in a new browser. */
async function openBackend(provider: 'wasm' | 'webgpu'): Promise<BrowserBackend> {
  const args = provider === 'webgpu' ? gpuFlags : [];
  const browser: Browser = await chromium.launch({ executablePath: executablePath!, args });
  onTestFinished(() => browser.close());
  const address = await serveFolder(runtime);
  return BrowserBackend.open(await browser.newPage(), { address, provider });
}

/** The cases with an error of 1e-4 or more, and the number of all. */
async function findWrong(differences: AsyncIterable<Difference>) {
  const wrong: string[] = [];
  let count = 0;
  for await (const { name, error } of differences) {
    count++;
    if (!(error < 1e-4)) wrong.push(`${name}: ${error}`);
  }
  return { wrong, count };
}

describe.skipIf(executablePath === undefined)('onnxruntime-web in a browser', () => {
  test('computes what the processor does with WebAssembly, within 1e-4', async () => {
    const { wrong, count } = await findWrong(compareDevices(await openBackend('wasm')));
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(190);
  }, 600_000);

  test('generates the same tokens as the processor from the embedded model', async () => {
    const generate = async (device: Backend | 'cpu') => {
      const { base, tokenizer } = await loadModel(embedded, { device });
      const generator = new Generator({ base, tokenizer, precision: 'f32-feeds' });
      const options = { maxNewTokens: 12, seed: 7, numReturnSequences: 2, temperature: 1 };
      const texts = await generator.generate(['The ', 'When we'], options);
      await generator.dispose();
      await base.dispose();
      return texts.map(({ tokens }) => Array.from(tokens));
    };
    expect(await generate(await openBackend('wasm'))).toEqual(await generate('cpu'));
  }, 300_000);

  test('computes what the processor does with WebGPU, within 1e-4', async () => {
    const backend = await openBackend('webgpu');
    const graphs = await findWrong(compareGraphs(backend));
    expect(graphs.wrong).toEqual([]);
    expect(graphs.count).toBeGreaterThan(180);
    const models = await findWrong(compareModels(backend, ['qwen3-tied']));
    expect(models).toEqual({ wrong: [], count: 1 });
  }, 900_000);
});
