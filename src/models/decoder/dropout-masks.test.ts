import { describe, expect, it } from 'vitest';
import { largestDifference } from '../../../test/helpers/pass-checks.ts';
import { resolveModelConfig } from '../../config/model-config.ts';
import { randomStream } from '../../engine/random/index.ts';
import type { Tensor } from '../../engine/runtime/index.ts';
import { languageGradients } from '../../training/language-pass.ts';
import { BaseModel } from './base-model.ts';
import { createModel, freshArchitecture } from './create-model.ts';
import { embeddingMask, joinEmbeddingMasks, layerMasks } from './dropout-masks.ts';
import { forward } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';

type ModelType = 'qwen3' | 'gpt2';

/** A small model whose weights are large enough for dropout to matter. */
function makeModel(modelType: ModelType, dropout: number, layersPerSession = 1): BaseModel {
  const config = resolveModelConfig({
    modelType,
    dropout,
    vocabSize: 30,
    hiddenSize: 16,
    numLayers: 2,
    numAttentionHeads: 2,
    maxPositionEmbeddings: 16,
  });
  const { architecture, weights } = createModel(freshArchitecture(config), 4);
  for (const { data, shape } of weights.values()) {
    if (shape.length > 1) for (let i = 0; i < data.length; i++) data[i] = 10 * data[i]!;
  }
  return new BaseModel(architecture, weights, { layersPerSession });
}

const texts = [
  { tokens: Int32Array.of(3, 7, 2, 9, 11), learned: Int32Array.of(1, 2, 3, 4) },
  { tokens: Int32Array.of(3, 7, 5, 20), learned: Int32Array.of(2, 3) },
];
const batch = new PackedBatch(texts.map(({ tokens }) => tokens));

/** The loss of the texts and its gradients, with the masks of a seed. */
async function lossAndGradients(base: BaseModel, seed: number) {
  const gradients = new Map<string, Float32Array>();
  const loss = await languageGradients({ base }, texts, {
    tokenCount: 6,
    dropout: randomStream(seed, 'masks'),
    accumulate: (part) => {
      for (const [name, data] of Object.entries(part)) {
        const sum = gradients.get(name) ?? new Float32Array(data.length);
        gradients.set(
          name,
          sum.map((x, i) => x + data[i]!),
        );
      }
    },
  });
  return { loss, gradients };
}

describe('Masks of a model whose weights are all trained', () => {
  it('are 0 with probability p and 1/(1 − p) otherwise', () => {
    const base = makeModel('gpt2', 0.2);
    const options = { rows: 2000, random: randomStream(1) };
    const layers = layerMasks({ base }, { ...options, first: 0, count: 2 });
    expect(Object.keys(layers).sort()).toEqual([
      '0.attn.dropout',
      '0.mlp.dropout',
      '1.attn.dropout',
      '1.mlp.dropout',
    ]);
    const embeddings = joinEmbeddingMasks([embeddingMask({ base }, options)])!;
    for (const { data, shape } of [embeddings, ...Object.values(layers)] as Tensor<'float32'>[]) {
      expect(shape).toEqual([2000, 16]);
      expect(new Set(data)).toEqual(new Set([0, Math.fround(1 / 0.8)]));
      // Five standard errors: 5 · √(p / ((1 − p) · 32,000)) = 0.014.
      expect(Math.abs(data.reduce((sum, x) => sum + x, 0) / data.length - 1)).toBeLessThan(0.014);
      // Neighbours are independent: both are 0 with probability p². Five standard errors are 0.007.
      const pairs = data.filter((x, k) => x === 0 && data[k + 1] === 0).length;
      expect(Math.abs(pairs / data.length - 0.2 ** 2)).toBeLessThan(0.007);
    }
  });
});

describe.each(['qwen3', 'gpt2'] as const)('Dropout in %s', (modelType) => {
  it('has the gradient of the loss with fixed masks', async () => {
    const base = makeModel(modelType, 0.3);
    const { gradients } = await lossAndGradients(base, 1);
    expect([...gradients.keys()].sort()).toEqual([...base.weights.keys()].sort());
    for (const [name, gradient] of gradients) {
      const { data } = base.weights.get(name)!;
      // The directional derivative along the gradient is its norm.
      const norm = Math.hypot(...gradient);
      const before = data.slice();
      const lossAt = async (step: number) => {
        data.forEach((_, i) => {
          data[i] = before[i]! + (step * gradient[i]!) / norm;
        });
        return (await lossAndGradients(base, 1)).loss;
      };
      const h = 1e-2;
      const slope = ((await lossAt(h)) - (await lossAt(-h))) / (2 * h);
      data.set(before);
      expect(Math.abs(slope / norm - 1), name).toBeLessThan(0.02);
    }
    await base.dispose();
  });

  it('depends on the seed of the masks only', async () => {
    const base = makeModel(modelType, 0.3);
    const [first, same, other] = [
      await lossAndGradients(base, 1),
      await lossAndGradients(base, 1),
      await lossAndGradients(base, 2),
    ];
    expect(same).toEqual(first);
    expect(other.loss).not.toBe(first.loss);
    const joint = await lossAndGradients(makeModel(modelType, 0.3, 2), 1);
    expect(joint.loss).toBeCloseTo(first.loss, 5);
    for (const [name, gradient] of first.gradients) {
      expect(largestDifference(gradient, joint.gradients.get(name)!), name).toBeLessThan(1e-4);
    }
  });

  it('changes nothing outside training, and nothing at all if it is 0', async () => {
    const [none, some] = [makeModel(modelType, 0), makeModel(modelType, 0.3)];
    const plain = (await forward({ base: none }, batch)).hidden.data;
    const dropout = () => randomStream(1);
    expect((await forward({ base: some }, batch)).hidden.data).toEqual(plain);
    const untouched = await forward({ base: none }, batch, { dropout: dropout() });
    expect(untouched.hidden.data).toEqual(plain);
    const dropped = await forward({ base: some }, batch, { dropout: dropout() });
    expect(dropped.hidden.data).not.toEqual(plain);
  });
});
