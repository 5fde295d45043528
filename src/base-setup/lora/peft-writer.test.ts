import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { peftFamilies, peftFolder, readPeftGolden } from '../../../test/helpers/peft-golden.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { tensor } from '../../engine/runtime/index.ts';
import type { AdapterBase } from './base-fingerprint.ts';
import { LoraAdapter } from './lora-adapter.ts';
import { defaultLoraConfig } from './lora-config.ts';
import { readAdapter, writeAdapter } from './peft-files.ts';

const modules = new Map([
  ['model.layers.0.self_attn.q_proj', [4, 3]],
  ['model.layers.0.mlp.up_proj', [5, 3]],
] as const);

/** A base with these modules. */
const base: AdapterBase = {
  modules: () => modules,
  fingerprint: () => ({ config: {}, weights: '0'.repeat(64) }),
};

const readJson = (folder: string, name = 'adapter_config.json') =>
  JSON.parse(readFileSync(join(folder, name), 'utf8'));

describe('writeAdapter()', () => {
  it.each(peftFamilies)('writes the tensors of %s with the same bytes as PEFT', async (family) => {
    const { adapter } = await readPeftGolden(family);
    const folder = makeTempFolder();
    await writeAdapter(folder, adapter);
    const name = 'adapter_model.safetensors';
    const theirs = readFileSync(join(peftFolder(family, 'adapter'), name));
    expect(readFileSync(join(folder, name)).equals(theirs)).toBe(true);
  });

  it.each(peftFamilies)(
    'writes every config key of %s with the same value as PEFT',
    async (family) => {
      const { adapter, baseModelNameOrPath } = await readPeftGolden(family);
      const folder = makeTempFolder();
      const base = baseModelNameOrPath ?? '';
      const fanInFanOut = family === 'gpt2';
      await writeAdapter(folder, adapter, { baseModelNameOrPath: base, fanInFanOut });
      const { target_modules, ...ours } = readJson(folder);
      expect(readJson(peftFolder(family, 'adapter'))).toMatchObject(ours);
    },
  );

  it('writes the head of a reward model with the same bytes as PEFT', async () => {
    const { adapter, extraTensors } = await readPeftGolden('qwen3', 'reward');
    const folder = makeTempFolder();
    await writeAdapter(folder, adapter, { extraTensors, taskType: 'SEQ_CLS' });
    const name = 'adapter_model.safetensors';
    const theirs = readFileSync(join(peftFolder('qwen3', 'reward'), name));
    expect(readFileSync(join(folder, name)).equals(theirs)).toBe(true);
    expect(readJson(folder)).toMatchObject({ modules_to_save: ['score'], task_type: 'SEQ_CLS' });
  });

  it.each(peftFamilies)('writes %s so that reading returns the same adapter', async (family) => {
    const { adapter, base } = await readPeftGolden(family);
    const folder = makeTempFolder();
    await writeAdapter(folder, adapter);
    expect((await readAdapter(folder, base)).adapter).toEqual(adapter);
  });

  it('writes heads, task and base so that reading returns the same', async () => {
    const adapter = LoraAdapter.create(defaultLoraConfig, modules);
    const about = {
      baseModelNameOrPath: 'org/tiny',
      taskType: 'TOKEN_CLS',
      extraTensors: new Map([
        ['score.weight', tensor(Float32Array.of(1, 2, 3), [1, 3])],
        ['score.bias', tensor(Float32Array.of(4), [1])],
      ]),
    } as const;
    const folder = makeTempFolder();
    await writeAdapter(folder, adapter, about);
    const read = await readAdapter(folder, base);
    expect(read).toMatchObject({ baseModelNameOrPath: 'org/tiny', taskType: 'TOKEN_CLS' });
    expect([...read.extraTensors].sort()).toEqual([...about.extraTensors].sort());
    expect(read.adapter.config).toEqual({
      ...defaultLoraConfig,
      target_modules: ['q_proj'],
      use_rslora: false,
    });
  });

  it('writes only targets that the base has, and never all-linear', async () => {
    const folder = join(makeTempFolder(), 'new', 'folder');
    await writeAdapter(folder, LoraAdapter.create(defaultLoraConfig, modules));
    expect(readJson(folder).target_modules).toEqual(['q_proj']);
    await writeAdapter(folder, LoraAdapter.create({ r: 1, lora_alpha: 1 }, modules));
    expect(readJson(folder).target_modules).toEqual(['q_proj', 'up_proj']);
    expect(readdirSync(folder).sort()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
    ]);
  });
});
