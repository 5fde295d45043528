import { describe, expect, test } from 'vitest';
import { largestDifference } from '../../../test/helpers/model-difference.ts';
import { fixtureFolder, loadFolder, useModel } from '../../../test/helpers/model-fixtures.ts';
import { forward, sampleIds } from '../../../test/helpers/model-runs.ts';
import { countSessions } from '../../engine/runtime/index.ts';
import { forward as runLayers } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import { takeRows } from './rows.ts';

describe('BaseModel', () => {
  const llama = useModel(fixtureFolder('llama-mha-untied'));
  const gpt2 = useModel(fixtureFolder('gpt2-default'));

  test('modules() are the linear modules of every layer, [out, in]', () => {
    const shapes = (layer: string) => [
      [`${layer}.attn.c_attn`, [96, 32]],
      [`${layer}.attn.c_proj`, [32, 32]],
      [`${layer}.mlp.c_fc`, [128, 32]],
      [`${layer}.mlp.c_proj`, [32, 128]],
    ];
    expect([...gpt2.base.modules()]).toEqual([
      ...shapes('transformer.h.0'),
      ...shapes('transformer.h.1'),
    ]);
  });

  test('embed() adds learned positions', () => {
    const batch = new PackedBatch([[5, 5], [5]]);
    const token = gpt2.base.weight('transformer.wte.weight');
    const place = gpt2.base.weight('transformer.wpe.weight');
    const sum = (position: number) =>
      Float32Array.from(
        takeRows(token, [5]).data,
        (value, i) => value + (takeRows(place, [position]).data[i] ?? Number.NaN),
      );
    const { data } = gpt2.base.embed(batch);
    expect([...data]).toEqual([...sum(0), ...sum(1), ...sum(0)]);
  });

  test.each([96, -1])('rejects token %i, which is not in the vocabulary', async (token) => {
    await expect(runLayers(llama, new PackedBatch([[1, token]]))).rejects.toThrow(
      new RangeError(
        `Cannot embed the tokens: tokens must be below the vocabulary of 96, got ${token}`,
      ),
    );
  });

  test('rejects a text longer than the learned positions', async () => {
    const ids = sampleIds(gpt2.base, 81);
    await expect(forward(gpt2.base, [ids])).rejects.toThrow(
      new RangeError('Cannot embed the tokens: positions must be below 80, got 80'),
    );
    const [whole = []] = await forward(gpt2.base, [ids.slice(0, 80)]);
    expect(whole.at(-1)?.every(Number.isFinite)).toBe(true);
  });

  test('dispose() frees its sessions; later calls compile again', async () => {
    const before = countSessions();
    const base = await loadFolder(fixtureFolder('qwen2-tied'));
    const first = await forward(base, [[1, 2, 3]]);
    expect(countSessions()).toBe(before + 2);
    await base.dispose();
    expect(countSessions()).toBe(before);
    const again = await forward(base, [[1, 2, 3]]);
    expect(largestDifference(again[0] ?? [], first[0] ?? [])).toBe(0);
    await base.dispose();
  });
});
