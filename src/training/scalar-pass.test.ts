import { afterAll, expect, test } from 'vitest';
import { tinyModel } from '../../test/helpers/generation-tiny-model.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { tensor } from '../engine/runtime/index.ts';
import { PackedBatch, randomHead, ValueModel } from '../models/index.ts';
import { runScalar, scalarGradients } from './scalar-pass.ts';

const base = tinyModel();
afterAll(() => base.dispose());

/** L = Σ_m (score_m − m)² over all rows, and its gradients with respect to the head. */
async function lossOf(model: ValueModel) {
  const batch = new PackedBatch([Int32Array.of(3, 4, 5), Int32Array.of(6, 7)]);
  const rows = Int32Array.from({ length: 5 }, (_, m) => m);
  const pass = await runScalar(model, batch, { rows, save: 'none' });
  const gradients: Record<string, Float32Array> = {};
  const errors = pass.scores.map((score, m) => score - m);
  await scalarGradients(
    pass,
    errors.map((error) => 2 * error),
    (part) => void Object.assign(gradients, part),
  );
  return { loss: errors.reduce((sum, error) => sum + error ** 2, 0), gradients };
}

test('the gradients of weight and bias are the slopes of the loss', async () => {
  const bias = tensor(Float32Array.of(0.5), [1]);
  const head = randomHead(base.architecture.config.hidden_size);
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
  const model = new ValueModel({ base, head, bias, adapter });
  const { gradients } = await lossOf(model);
  const step = 1e-2;
  for (const [name, data] of Object.entries(model.headParameters())) {
    const i = data.length - 1;
    const at = async (x: number) => {
      data[i] = x;
      return (await lossOf(model)).loss;
    };
    const before = data[i]!;
    const slope = ((await at(before + step)) - (await at(before - step))) / (2 * step);
    data[i] = before;
    expect(Math.abs(gradients[name]![i]! - slope), name).toBeLessThan(1e-2 * Math.abs(slope));
  }
});

test('a head without a bias has no gradient for one', async () => {
  const head = randomHead(base.architecture.config.hidden_size);
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
  const { gradients } = await lossOf(new ValueModel({ base, head, adapter }));
  expect(Object.keys(gradients).filter((name) => name.startsWith('score'))).toEqual([
    'score.weight',
  ]);
});
