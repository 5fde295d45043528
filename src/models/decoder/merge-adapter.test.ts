import { describe, expect, it } from 'vitest';
import { expectClose } from '../../../test/helpers/expect-close.ts';
import { computeLogits, peftFamilies, readPeftGolden } from '../../../test/helpers/peft-golden.ts';
import { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import { tensor } from '../../engine/runtime/index.ts';
import { ValueModel } from '../value-model.ts';
import { mergeAdapter } from './merge-adapter.ts';
import { transposedModules } from './weight-shapes.ts';

describe.each(peftFamilies)('%s with an adapter of PEFT', (family) => {
  it('has the logits of transformers without it', async () => {
    const { base, sequences, expected } = await readPeftGolden(family);
    const logits = await computeLogits(base, sequences);
    expectClose(logits, { expected: expected.base!.data, within: 1e-4, label: 'logits' });
  });

  it('has the logits of PEFT with it', async () => {
    const { base, adapter, sequences, expected } = await readPeftGolden(family);
    const logits = await computeLogits(base, sequences, adapter);
    expectClose(logits, { expected: expected.adapter!.data, within: 1e-4, label: 'logits' });
  });

  it('has the logits of PEFT after mergeAdapter()', async () => {
    const { base, adapter, sequences, expected } = await readPeftGolden(family);
    const logits = await computeLogits(await mergeAdapter(base, adapter), sequences);
    expectClose(logits, { expected: expected.merged!.data, within: 1e-4, label: 'logits' });
  });

  it('has the logits of PEFT with an adapter on the upper layer only, merged or not', async () => {
    const { base, adapter, sequences, expected } = await readPeftGolden(family, 'layers');
    const about = { expected: expected.layers!.data, within: 1e-4, label: 'logits' };
    expectClose(await computeLogits(base, sequences, adapter), about);
    expectClose(await computeLogits(await mergeAdapter(base, adapter), sequences), about);
  });

  it('is unchanged by mergeAdapter(), which returns a new model', async () => {
    const { base, adapter } = await readPeftGolden(family);
    const before = new Map([...base.weights].map(([name, { data }]) => [name, data.slice()]));
    const merged = await mergeAdapter(base, adapter);
    for (const [name, { data }] of base.weights) expect(data, name).toEqual(before.get(name));
    const changed = [...merged.weights].filter(([name, weight]) => weight !== base.weight(name));
    expect(changed.map(([name]) => name).sort()).toEqual(
      adapter
        .modules()
        .map((module) => `${module}.weight`)
        .sort(),
    );
  });
});

describe('mergeAdapter()', () => {
  it('adds scaling·B·A to W [out, in]', async () => {
    const { base } = await readPeftGolden('qwen3');
    const name = 'model.layers.1.self_attn.k_proj';
    const [out, inner] = base.modules().get(name)!;
    const a = new Float32Array(inner);
    const b = new Float32Array(out);
    a[2] = 3;
    b[5] = 7;
    const adapter = new LoraAdapter(
      { r: 1, lora_alpha: 2, target_modules: [name] },
      new Map([
        [`${name}.lora_A.weight`, tensor(a, [1, inner])],
        [`${name}.lora_B.weight`, tensor(b, [out, 1])],
      ]),
    );
    const merged = (await mergeAdapter(base, adapter)).weight(`${name}.weight`).data;
    const expected = base.weight(`${name}.weight`).data.slice();
    expected[5 * inner + 2]! += 42;
    expect(merged).toEqual(expected);
  });

  it('rejects an adapter for another base', async () => {
    const { base } = await readPeftGolden('qwen3');
    const { adapter } = await readPeftGolden('gpt2');
    await expect(mergeAdapter(base, adapter)).rejects.toThrow(
      new RangeError(
        'Cannot merge the adapter: the model must have a module "transformer.h.0.attn.c_attn", got none; the adapter is for another base',
      ),
    );
  });
});

it('transposedModules() names the modules of GPT-2 and none of Llama', async () => {
  const [gpt2, llama] = [await readPeftGolden('gpt2'), await readPeftGolden('llama')];
  expect([...transposedModules(gpt2.base.architecture)]).toEqual([
    'attn.c_attn',
    'attn.c_proj',
    'mlp.c_fc',
    'mlp.c_proj',
  ]);
  expect(transposedModules(llama.base.architecture).size).toBe(0);
});

it('a reward adapter of PEFT returns the scores of its sequence classifier', async () => {
  const { base, adapter, extraTensors, sequences, expected } = await readPeftGolden(
    'qwen3',
    'reward',
  );
  const model = new ValueModel({ base, adapter, head: extraTensors.get('score.weight')! });
  const scores = (await model.forward(sequences)).flatMap((values) => [...values]);
  expectClose(scores, { expected: expected.reward!.data, within: 1e-4, label: 'scores' });
});
