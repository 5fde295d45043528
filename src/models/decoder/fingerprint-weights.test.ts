import { describe, expect, test } from 'vitest';
import { fixtureFolder, loadFolder } from '../../../test/helpers/model-fixtures.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { tensor } from '../../engine/runtime/index.ts';
import { fingerprintModel } from './fingerprint-weights.ts';
import { saveModel } from './save-model.ts';

const { architecture } = await loadFolder(fixtureFolder('qwen3-tied'));

/** The hash of a model with one weight. */
const hashOf = (data: Float32Array, name = 'w', shape = [data.length]) =>
  fingerprintModel(architecture, new Map([[name, tensor(data, shape)]])).weights;

describe('fingerprintModel()', () => {
  test('changes with any number of a small weight, its name and its shape', () => {
    const data = new Float32Array(1000);
    const before = hashOf(data);
    const changes = [0, 500, 999].map((i) => hashOf(data.with(i, 1)));
    const renamed = hashOf(data, 'v');
    const reshaped = hashOf(data, 'w', [10, 100]);
    expect(new Set([before, ...changes, renamed, reshaped]).size).toBe(6);
    expect(hashOf(data.slice())).toBe(before);
  });

  test('changes with the first, the last and one of every 4 KiB of a weight of 4 MiB', () => {
    const data = new Float32Array(2 ** 20);
    const before = hashOf(data);
    expect(hashOf(data.with(0, 1))).not.toBe(before);
    expect(hashOf(data.with(2 ** 20 - 1, 1))).not.toBe(before);
    const trained = data.map((_, i) => (i % 1024 === 7 ? 1e-9 : 0));
    expect(hashOf(trained)).not.toBe(before);
  });

  test('does not depend on dtype, shards or the order of weights', async () => {
    const base = await loadFolder(fixtureFolder('qwen3-tied'));
    const folder = makeTempFolder();
    await saveModel(folder, base, { dtype: 'F32', maxShardBytes: 4000 });
    expect((await loadFolder(folder)).fingerprint()).toEqual(base.fingerprint());
    const reversed = new Map([...base.weights].reverse());
    expect(fingerprintModel(base.architecture, reversed)).toEqual(base.fingerprint());
  });

  test('contains the fields that change what the model computes, and no others', async () => {
    const { config } = (await loadFolder(fixtureFolder('qwen3-tied'))).fingerprint();
    expect(config).toMatchObject({ model_type: 'qwen3', rms_norm_eps: 1e-6 });
    expect(config).not.toHaveProperty('max_position_embeddings');
  });
});
