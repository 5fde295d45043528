import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectClose } from '../../../test/helpers/expect-close.ts';
import { caseFolder, recordCase } from '../../../test/helpers/oracle-case.ts';
import {
  computeLogits,
  openModel,
  peftFamilies,
  peftFolder,
  readPeftGolden,
} from '../../../test/helpers/peft-golden.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { openSafetensors } from '../../base-setup/safetensors/open-weights.ts';

import { readArchitecture } from './families/index.ts';
import { mergeAdapter } from './merge-adapter.ts';
import { saveModel } from './save-model.ts';

const readJson = (folder: string, name: string) =>
  JSON.parse(readFileSync(join(folder, name), 'utf8'));

describe.each(peftFamilies)('saveModel() of %s', (family) => {
  const source = peftFolder(family, 'base');

  it('writes a merged model that is read back unchanged', async () => {
    const { base, adapter, sequences, expected } = await readPeftGolden(family);
    const folder = caseFolder(`${family}-merged`);
    await saveModel(folder, base, { adapter, source });
    const read = await openModel(folder);
    expect(read.architecture.config).toEqual(base.architecture.config);
    expect(read.weights).toEqual((await mergeAdapter(base, adapter)).weights);
    const logits = await computeLogits(read, sequences);
    expectClose(logits, { expected: expected.merged!.data, within: 1e-4, label: 'logits' });
    await recordCase(folder, { sequences, logits });
  });

  it('copies config and generation config, except for the dtype', async () => {
    const { base } = await readPeftGolden(family);
    const folder = makeTempFolder();
    await saveModel(folder, base, { source });
    const config = readJson(source, 'config.json');
    expect(readJson(folder, 'config.json')).toEqual({ ...config, dtype: 'float32' });
    const name = 'generation_config.json';
    expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(source, name)));
  });

  it('writes the tensors of a bfloat16 model with the same bytes as transformers', async () => {
    const { base } = await readPeftGolden(family);
    const folder = makeTempFolder();
    await saveModel(folder, base, { source, dtype: 'BF16' });
    const name = 'model.safetensors';
    const theirs = readFileSync(join(source, name));
    expect(readFileSync(join(folder, name)).equals(theirs)).toBe(true);
    expect(readJson(folder, 'config.json')).toEqual(readJson(source, 'config.json'));
  });

  it('writes shards of 16-bit floats', async () => {
    const { base, adapter, sequences } = await readPeftGolden(family);
    const folder = caseFolder(`${family}-merged-shards`);
    await saveModel(folder, base, { adapter, source, dtype: 'BF16', maxShardBytes: 20_000 });
    const shards = readdirSync(folder).filter((name) => /^model-0000\d-of-0000\d/.test(name));
    expect(shards.length).toBeGreaterThan(1);
    const read = await openModel(folder);
    const merged = await mergeAdapter(base, adapter);
    expect([...read.weights.keys()]).toEqual([...merged.weights.keys()]);
    for (const [name, { data }] of merged.weights) {
      // bfloat16 has 8 significant bits.
      const within = 2 ** -8;
      expectClose(read.weight(name).data, { expected: data, within, label: name });
    }
    await recordCase(folder, { sequences, logits: await computeLogits(read, sequences) });
  });
});

describe('saveModel()', () => {
  it('keeps torch_dtype, which older configs have', async () => {
    const { base } = await readPeftGolden('qwen3');
    const source = makeTempFolder();
    const { dtype, ...config } = readJson(peftFolder('qwen3', 'base'), 'config.json');
    const save = async (json: object) => {
      writeFileSync(join(source, 'config.json'), JSON.stringify(json));
      const folder = makeTempFolder();
      await saveModel(folder, base, { source, dtype: 'F16' });
      return readJson(folder, 'config.json');
    };
    const old = { ...config, torch_dtype: dtype };
    expect(await save(old)).toEqual({ ...old, torch_dtype: 'float16' });
    expect(await save(config)).toEqual({ ...config, torch_dtype: 'float16' });
    expect(await save({ ...old, dtype })).toEqual({
      ...old,
      torch_dtype: 'float16',
      dtype: 'float16',
    });
  });

  it('copies the tokenizer', async () => {
    const { base } = await readPeftGolden('qwen3');
    const source = makeTempFolder();
    cpSync(peftFolder('qwen3', 'base'), source, { recursive: true });
    const names = ['chat_template.jinja', 'tokenizer.json', 'tokenizer_config.json', 'vocab.json'];
    for (const name of names) writeFileSync(join(source, name), `the ${name}`);
    writeFileSync(join(source, 'README.md'), 'not copied');
    const folder = makeTempFolder();
    await saveModel(folder, base, { source });
    expect(readdirSync(folder).sort()).toEqual(
      [...names, 'config.json', 'generation_config.json', 'model.safetensors'].sort(),
    );
    for (const name of names) {
      expect(readFileSync(join(folder, name), 'utf8')).toBe(`the ${name}`);
    }
  });

  it('writes an untied head but not a tied one', async () => {
    const folder = makeTempFolder();
    for (const [family, untied] of [
      ['qwen3', false],
      ['gpt2', false],
      ['llama', true],
    ] as const) {
      await saveModel(folder, (await readPeftGolden(family)).base);
      const reader = await openSafetensors(folder);
      expect(reader.has('lm_head.weight')).toBe(untied);
      await reader.close();
    }
  });

  it('rejects the folder that the model was loaded from', async () => {
    const { base } = await readPeftGolden('qwen3');
    const folder = makeTempFolder();
    cpSync(peftFolder('qwen3', 'base'), folder, { recursive: true });
    const before = readdirSync(folder);
    await expect(saveModel(`${folder}/.`, base, { source: folder })).rejects.toThrow(
      new Error(
        `Cannot save the model to ${folder}/.: it must differ from the folder it was loaded from`,
      ),
    );
    expect(readdirSync(folder)).toEqual(before);
  });

  it('rejects a config of another model', async () => {
    const { base } = await readPeftGolden('qwen3');
    const folder = makeTempFolder();
    await expect(saveModel(folder, base, { source: peftFolder('llama', 'base') })).rejects.toThrow(
      new Error(
        `Cannot save the model with ${peftFolder('llama', 'base')}/config.json: "architectures" must be ["Qwen3ForCausalLM"] as in the model, got ["LlamaForCausalLM"]`,
      ),
    );
    const source = peftFolder('qwen3', 'base');
    await expect(
      saveModel(folder, base, { source, config: { rope_parameters: { rope_theta: 5 } } }),
    ).rejects.toThrow(
      new Error(
        `Cannot save the model with ${source}/config.json: "rope_theta" must be 10000 as in the model, got 5`,
      ),
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('readArchitecture() reads the description of a config as that config', () => {
  const folders = peftFamilies.map((family) => peftFolder(family, 'base'));
  for (const folder of folders) {
    const { family, config } = readArchitecture(readJson(folder, 'config.json'));
    expect(readArchitecture(family.describe(config)).config).toEqual(config);
  }
});
