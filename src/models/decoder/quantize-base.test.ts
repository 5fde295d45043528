import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { relativeDifference } from '../../../test/helpers/model-difference.ts';
import { fixtureFolder, loadFolder } from '../../../test/helpers/model-fixtures.ts';
import {
  decodeTokens,
  forward as logitsOf,
  makeDecoder,
  sampleIds,
} from '../../../test/helpers/model-runs.ts';
import { largestDifference, randomAdapter } from '../../../test/helpers/pass-checks.ts';
import { randomStream } from '../../engine/random/index.ts';
import { byteLimit, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { BaseModel } from './base-model.ts';
import { backward, forward } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import { countParameters } from './parameter-counts.ts';
import { baseBytes, holdBase, orderedWeights, quantizeBase } from './quantize-base.ts';
import { runTokenHead } from './token-head.ts';
import { transposedModules } from './weight-shapes.ts';

/** The same numbers as a base in bytes, as float32. */
function dequantized({ architecture, weights, bytes }: BaseModel): BaseModel {
  const transposed = [...transposedModules(architecture)];
  const all = new Map<string, Tensor<'float32'>>(weights);
  for (const [name, weight] of bytes!.weights) {
    const { out, inner } = weight;
    const isTransposed = transposed.some((module) => name.endsWith(`.${module}.weight`));
    const shape = isTransposed ? [inner, out] : [out, inner];
    all.set(name, tensor(weight.dequantize({ transposed: isTransposed }), shape));
  }
  return new BaseModel(architecture, all);
}

const maxByte = await byteLimit();
/** Rows of 7 bits have steps twice as large in either byte. */
const formats = [
  { rows: 'float32', maxByte, bound: 1e-5 },
  { rows: 'two-byte', maxByte, bound: 5e-4 * (127 / maxByte) ** 2 },
] as const;

test('an 8-bit base is held as float32 where bytes are slower and float32 fits into memory', async () => {
  const { architecture } = await loadFolder(fixtureFolder('llama-gqa'));
  const size = baseBytes(architecture, 'f32');
  const hold = (rows: 'float32' | 'two-byte', memory: number) =>
    holdBase(architecture, 'int8', { format: Promise.resolve({ rows }), memory });
  expect(await hold('two-byte', 100 * size)).toBe('int8');
  expect(await hold('float32', 3 * size)).toBe('f32');
  expect(await hold('float32', 3 * size - 4)).toBe('int8');
  for (const precision of ['f32', 'auto'] as const) {
    expect(await holdBase(architecture, precision)).toBe('f32');
  }
});

describe.each(['llama-gqa', 'qwen2-untied', 'qwen3-tied', 'gpt2-default'])(
  '%s in bytes',
  (name) => {
    let original: BaseModel;
    beforeAll(async () => {
      original = await loadFolder(fixtureFolder(name));
    });
    afterAll(() => original.dispose());

    test('has the same numbers, name and precision if they are held as float32', async () => {
      const options = { layersPerSession: 1 };
      const weights = orderedWeights(original);
      const quantized = { ...options, held: 'int8', format: { rows: 'float32', maxByte } } as const;
      const base = await quantizeBase(original.architecture, weights, quantized);
      const exact = dequantized(base);
      const held = await quantizeBase(original.architecture, weights, { ...options, held: 'f32' });
      expect(held.bytes).toBeUndefined();
      expect(held.precision).toBe('int8');
      expect(held.fingerprint()).toEqual(original.fingerprint());
      expect([...held.weights.keys()].sort()).toEqual([...original.weights.keys()].sort());
      for (const [key, weight] of exact.weights) expect(held.weight(key)).toEqual(weight);
      for (const model of [base, exact, held]) await model.dispose();
    });

    describe.each(formats)('with $rows rows', ({ bound, ...format }) => {
      let [base, exact]: BaseModel[] = [];
      beforeAll(async () => {
        base = await quantizeBase(original.architecture, orderedWeights(original), { format });
        exact = dequantized(base);
      });
      afterAll(async () => {
        await base!.dispose();
        await exact!.dispose();
      });

      test('has the logits of the dequantized model', async () => {
        const sequences = [5, 1, 12, 40].map((length) => sampleIds(base!, length));
        const adapter = randomAdapter(base!);
        const [ours, theirs] = [
          await logitsOf(base!, sequences, adapter),
          await logitsOf(exact!, sequences, adapter),
        ];
        expect(relativeDifference(ours.flat(), theirs.flat())).toBeLessThan(bound);
      });

      test('has the gradients of the dequantized model', async () => {
        const sequences = [6, 17].map((length) => sampleIds(base!, length));
        const gradients = async (model: BaseModel) => {
          const role = { base: model, adapter: randomAdapter(model) };
          const pass = await forward(role, new PackedBatch(sequences), { save: 'matmul' });
          const random = randomStream(3, 'cotangent');
          const dy = pass.hidden.data.map(() => random.normal());
          const all = new Map<string, Float32Array>();
          const dx = await backward(pass, tensor(dy, pass.hidden.shape), (part) => {
            for (const [key, value] of Object.entries(part)) all.set(key, value);
          });
          return all.set('x', dx.data);
        };
        const [ours, theirs] = [await gradients(base!), await gradients(exact!)];
        expect(ours.size).toBe(theirs.size);
        for (const [key, gradient] of theirs) {
          expect(largestDifference(gradient, ours.get(key)!), key).toBeLessThan(bound);
        }
      });

      test('has the logprobs, entropies and gradients of the dequantized head', async () => {
        const [ids] = [sampleIds(base!, 30)];
        const { hidden } = await forward({ base: exact! }, new PackedBatch([ids]));
        const rows = { hidden, tokens: Int32Array.from([...ids.slice(1), 0]) };
        const options = { temperature: 0.7, gradients: 'logprob and entropy' } as const;
        const [ours, theirs] = [
          await runTokenHead(base!, rows, options),
          await runTokenHead(exact!, rows, options),
        ];
        for (const key of ['logprobs', 'entropies'] as const) {
          expect(largestDifference(theirs[key], ours[key]), key).toBeLessThan(bound);
        }
        for (const key of ['byLogprob', 'byEntropy'] as const) {
          const [expected, actual] = [theirs[key]!.data, ours[key]!.data];
          expect(largestDifference(expected, actual), key).toBeLessThan(bound);
        }
      });

      test.each(['f32', 'f32-feeds'] as const)(
        'decodes the same logits in %s',
        async (precision) => {
          const ids = sampleIds(base!, 20, 2);
          const [whole = []] = await logitsOf(exact!, [ids]);
          const run = await makeDecoder(base!, { precision });
          await run.decoder.prefill([ids.slice(0, 6)], { slots: [0], cache: run.cache });
          const [stepped = []] = await decodeTokens(run, [ids.slice(6)]);
          expect(relativeDifference(stepped, whole.slice(6))).toBeLessThan(Math.max(bound, 1e-4));
        },
      );
    });

    test('decodes the same logits from its own bytes and from a packed copy', async () => {
      const base = await quantizeBase(original.architecture, orderedWeights(original));
      const ids = sampleIds(base, 20, 2);
      const decode = async (precision: 'int8' | 'int8-packed') => {
        const run = await makeDecoder(base, { precision });
        await run.decoder.prefill([ids.slice(0, 6)], { slots: [0], cache: run.cache });
        const [logits = []] = await decodeTokens(run, [ids.slice(6)]);
        await run.decoder.dispose();
        return logits;
      };
      const [shared, packed] = [await decode('int8'), await decode('int8-packed')];
      expect(relativeDifference(packed, shared)).toBeLessThan(1e-6);
      await base.dispose();
    });

    test('is near the original, is identified by it and has a quarter of its size', async () => {
      const base = await quantizeBase(original.architecture, orderedWeights(original));
      expect(base.fingerprint()).toEqual(original.fingerprint());
      for (const [key, weight] of base.bytes!.weights) {
        const transposed = transposedModules(base.architecture);
        const isTransposed = [...transposed].some((module) => key.endsWith(`.${module}.weight`));
        const values = weight.dequantize({ transposed: isTransposed });
        expect(largestDifference(original.weight(key).data, values), key).toBeLessThan(0.5 / 126);
      }
      const held = [
        ...base.bytes!.weights.values(),
        ...[...base.weights.values()].map((w) => w.data),
      ];
      const bytes = held.reduce((sum, { byteLength }) => sum + byteLength, 0);
      expect(baseBytes(base.architecture, 'int8')).toBe(bytes);
      expect(baseBytes(base.architecture, 'f32')).toBe(
        4 * countParameters(base.architecture).total,
      );
      await base.dispose();
    });
  },
);

test('a weight that is not finite is named', async () => {
  const base = await loadFolder(fixtureFolder('llama-gqa'));
  base.weight('model.layers.1.mlp.up_proj.weight').data[3] = Number.NaN;
  await expect(quantizeBase(base.architecture, orderedWeights(base))).rejects.toThrow(
    'Cannot quantize "model.layers.1.mlp.up_proj.weight": weights must be finite numbers, got NaN or infinity',
  );
});
