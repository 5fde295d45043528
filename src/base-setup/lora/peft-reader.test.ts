import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPeftGolden } from '../../../test/helpers/peft-golden.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { tensor } from '../../engine/runtime/index.ts';
import type { AdapterBase } from './base-fingerprint.ts';
import { LoraAdapter } from './lora-adapter.ts';
import { readAdapter, writeAdapter } from './peft-files.ts';

const modules = new Map([
  ['model.layers.0.self_attn.q_proj', [4, 3]],
  ['model.layers.0.mlp.up_proj', [5, 3]],
  ['model.layers.1.self_attn.q_proj', [4, 3]],
  ['model.layers.1.mlp.up_proj', [5, 3]],
] as const);
/** A base with these modules. */
const base: AdapterBase = {
  modules: () => modules,
  fingerprint: () => ({ config: {}, weights: '0'.repeat(64) }),
};
const q0 = 'model.layers.0.self_attn.q_proj';
const fresh = () =>
  LoraAdapter.create({ r: 2, lora_alpha: 4, target_modules: ['q_proj'] }, modules).weights;

/** A folder with an adapter for these modules, with the given weights or untrained ones. */
async function makeFolder(weights: LoraAdapter['weights'] = fresh()): Promise<string> {
  const folder = makeTempFolder();
  const adapter = new LoraAdapter({ r: 2, lora_alpha: 4, target_modules: ['q_proj'] }, weights);
  await writeAdapter(folder, adapter, { baseModelNameOrPath: 'org/tiny' });
  return folder;
}

describe('readAdapter()', () => {
  it('reads the names of target modules', async () => {
    const { adapter, ...about } = await readPeftGolden('qwen3');
    expect(adapter.config).toEqual({
      r: 4,
      lora_alpha: 8,
      lora_dropout: 0.1,
      use_rslora: false,
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'],
    });
    expect(adapter.modules()).toHaveLength(2 * 4);
    expect(about).toMatchObject({ baseModelNameOrPath: 'tiny-qwen3', taskType: 'CAUSAL_LM' });
    expect(about.extraTensors.size).toBe(0);
  });

  it('reads a list of all modules as all-linear, and rank-stabilised scaling', async () => {
    const { adapter } = await readPeftGolden('llama');
    expect(adapter.config).toMatchObject({ use_rslora: true, target_modules: 'all-linear' });
    expect(adapter.modules()).toHaveLength(2 * 7);
  });

  it('reads a pattern as the names of the modules that it matches', async () => {
    const { adapter } = await readPeftGolden('gpt2');
    expect(adapter.config.target_modules).toEqual(['c_attn', 'attn.c_proj', 'c_fc']);
  });

  it.each([
    ['qwen3', ['q_proj', 'v_proj']],
    ['llama', ['o_proj', 'up_proj']],
    ['gpt2', ['c_attn']],
  ] as const)('reads the layers with an adapter of %s', async (family, target_modules) => {
    const { adapter } = await readPeftGolden(family, 'layers');
    expect(adapter.config).toMatchObject({ layers_to_transform: [1], target_modules });
    expect(adapter.modules()).toHaveLength(target_modules.length);
  });

  it('takes the layers from the tensors if the config names none', async () => {
    const weights = new Map([...fresh()].filter(([name]) => name.includes('layers.1')));
    const { adapter } = await readAdapter(await makeFolder(weights), base);
    expect(adapter.config).toMatchObject({ layers_to_transform: [1], target_modules: ['q_proj'] });
    expect([...adapter.weights.keys()]).toEqual([...weights.keys()]);
  });

  it('reads the head of a reward model', async () => {
    const { extraTensors, taskType } = await readPeftGolden('qwen3', 'reward');
    expect(taskType).toBe('SEQ_CLS');
    expect([...extraTensors].map(([name, { shape }]) => [name, shape])).toEqual([
      ['score.weight', [1, 32]],
    ]);
  });
});

describe('readAdapter() rejects', () => {
  const expectError = async (folder: string, error: Error) => {
    await expect(readAdapter(folder, base)).rejects.toThrow(error);
  };

  it('a folder without adapter_config.json', async () => {
    const folder = makeTempFolder();
    await expectError(
      folder,
      new Error(
        `Cannot read the adapter ${folder}: it must have adapter_config.json, got no such file`,
      ),
    );
  });

  it('a folder without weights or with pickled weights', async () => {
    const folder = makeTempFolder();
    const config = { peft_type: 'LORA', r: 2, lora_alpha: 4 };
    writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify(config));
    const start = `Cannot read the adapter ${folder}: it must have adapter_model.safetensors, got`;
    await expectError(folder, new Error(`${start} no such file`));
    writeFileSync(join(folder, 'adapter_model.bin'), '');
    await expectError(
      folder,
      new Error(`${start} adapter_model.bin; save it again with a newer PEFT`),
    );
  });

  it('a module that the base does not have', async () => {
    const weights = new Map(fresh()).set(
      'model.layers.2.self_attn.q_proj.lora_A.weight',
      tensor(new Float32Array(6), [2, 3]),
    );
    const folder = await makeFolder(weights);
    await expectError(
      folder,
      new RangeError(
        `Cannot read ${folder}/adapter_model.safetensors: the base must have a linear module "model.layers.2.self_attn.q_proj", got none; the adapter was trained on "org/tiny"`,
      ),
    );
  });

  it.each([
    ['A', [2, 3], [2, 7]],
    ['B', [4, 2], [9, 2]],
    ['A', [2, 3], [3, 2]],
    ['B', [4, 2], [4, 2, 1]],
  ])('%s with a wrong shape', async (kind, expected, got) => {
    const name = `${q0}.lora_${kind}.weight`;
    const size = got.reduce((product, dim) => product * dim);
    const folder = await makeFolder(
      new Map(fresh()).set(name, tensor(new Float32Array(size), got)),
    );
    await expectError(
      folder,
      new RangeError(
        `Cannot read ${folder}/adapter_model.safetensors: "${name}" must be [${expected.join(', ')}] for this base and rank, got [${got.join(', ')}]; the adapter was trained on "org/tiny"`,
      ),
    );
  });

  it.each([
    ['A', 'B'],
    ['B', 'A'],
  ])('a module without its %s', async (missing, present) => {
    const weights = new Map(fresh());
    weights.delete(`${q0}.lora_${missing}.weight`);
    const folder = await makeFolder(weights);
    await expectError(
      folder,
      new RangeError(
        `Cannot read ${folder}/adapter_model.safetensors: "${q0}.lora_${present}.weight" must come with "${q0}.lora_${missing}.weight", got none`,
      ),
    );
  });

  it('layers with adapters on different modules', async () => {
    const all = LoraAdapter.create({ r: 2, lora_alpha: 4 }, modules).weights;
    const weights = new Map([...all].filter(([name]) => !name.startsWith(q0)));
    const folder = await makeFolder(weights);
    await expectError(
      folder,
      new RangeError(
        `Cannot read ${folder}/adapter_model.safetensors: "${q0}" must have A and B like the other layers with an adapter, got none; merge the adapter with PEFT`,
      ),
    );
  });

  it('an adapter without modules', async () => {
    const folder = await makeFolder(new Map());
    await expectError(
      folder,
      new RangeError(
        `Cannot read ${folder}/adapter_model.safetensors: it must have A and B of a module, got none`,
      ),
    );
  });

  it.each(['lm_head.weight', 'model.embed_tokens.lora_embedding_A', 'v_score.weight'])(
    'the tensor %s',
    async (name) => {
      const weights = new Map(fresh()).set(name, tensor(new Float32Array(2), [1, 2]));
      const folder = await makeFolder(weights);
      await expectError(
        folder,
        new RangeError(
          `Cannot read ${folder}/adapter_model.safetensors: its tensors must be base_model.model.<module>.lora_A.weight, its lora_B.weight or those of a head named score or classifier, got "base_model.model.${name}"; merge the adapter with PEFT`,
        ),
      );
    },
  );

  it('a truncated file', async () => {
    const folder = await makeFolder();
    const file = join(folder, 'adapter_model.safetensors');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -4));
    await expect(readAdapter(folder, base)).rejects.toThrow(`Cannot read ${file}: `);
  });
});
