import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { backendOf } from '../../src/engine/runtime/index.ts';
import { Generator } from '../../src/generation/index.ts';
import { loadModel } from '../../src/models/index.ts';
import { compareDevices } from '../helpers/devices/conformance.ts';

const embedded = fileURLToPath(new URL('../../embedded', import.meta.url));

test('onnxruntime-web computes what the processor does, within 1e-4', async () => {
  const wrong: string[] = [];
  let count = 0;
  for await (const { name, error } of compareDevices(backendOf('web'))) {
    count++;
    if (!(error < 1e-4)) wrong.push(`${name}: ${error}`);
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(190);
}, 600_000);

test('onnxruntime-web generates the same tokens as the processor from the embedded model', async () => {
  const texts = await Promise.all(
    (['cpu', 'web'] as const).map(async (device) => {
      const { base, tokenizer } = await loadModel(embedded, { device });
      const generator = new Generator({ base, tokenizer });
      const options = { maxNewTokens: 24, seed: 7, numReturnSequences: 3, temperature: 1 };
      const generated = await generator.generate(['The ', 'I like', 'When we'], options);
      await generator.dispose();
      await base.dispose();
      return generated.map(({ tokens }) => Array.from(tokens));
    }),
  );
  expect(texts[1]).toEqual(texts[0]);
  expect(new Set(texts[0]!.map(String)).size).toBe(9);
}, 300_000);
