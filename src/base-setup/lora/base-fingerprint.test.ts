import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { resolveModelConfig } from '../../config/model-config.ts';
import { createModel, freshArchitecture } from '../../models/decoder/create-model.ts';
import { BaseModel } from '../../models/index.ts';
import { writeSafetensors } from '../safetensors/index.ts';
import { openSafetensors } from '../safetensors/open-weights.ts';
import { LoraAdapter } from './lora-adapter.ts';
import { readAdapter, writeAdapter } from './peft-files.ts';

import type { WriteAdapterOptions } from './peft-writer.ts';

const sizes = { vocabSize: 20, hiddenSize: 8, numAttentionHeads: 2, numLayers: 1 };

/** A tiny base with a name. */
function makeBase(
  name: string,
  { seed = 1, ...changes }: { seed?: number; vocabSize?: number } = {},
) {
  const architecture = freshArchitecture(resolveModelConfig({ ...sizes, ...changes }));
  return new BaseModel(architecture, createModel(architecture, seed).weights, { name });
}

const trained = makeBase('org/trained');

/** A folder with an adapter over `trained`. */
async function makeFolder(options: WriteAdapterOptions): Promise<string> {
  const folder = makeTempFolder();
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, trained.modules());
  await writeAdapter(folder, adapter, { baseModelNameOrPath: 'org/trained', ...options });
  return folder;
}

const withFingerprint = () => makeFolder({ fingerprint: trained.fingerprint() });
const short = (base: BaseModel) => base.fingerprint().weights.slice(0, 12);

describe('an adapter with the fingerprint of its base', () => {
  it('is read over the same weights under another name', async () => {
    const moved = new BaseModel(trained.architecture, trained.weights, { name: '/moved' });
    expect((await readAdapter(await withFingerprint(), moved)).warning).toBeUndefined();
  });

  it('is rejected over other weights of the same shape, with the names of both bases', async () => {
    const folder = await withFingerprint();
    const other = makeBase('org/other', { seed: 2 });
    await expect(readAdapter(folder, other)).rejects.toThrow(
      new Error(
        `Cannot use the adapter ${folder}: its base must be the one it was trained on, "org/trained" (weights ${short(trained)}), got "org/other" (weights ${short(other)}), where the weights have other values; load the base that it was trained on`,
      ),
    );
  });

  it('is rejected over another architecture, with the first field that differs', async () => {
    const other = makeBase('org/other', { vocabSize: 30 });
    await expect(readAdapter(await withFingerprint(), other)).rejects.toThrow(
      'where vocab_size is 30 instead of 20; load the base that it was trained on',
    );
  });

  it('has no key in adapter_config.json that PEFT does not know', async () => {
    const [plain, marked] = [await makeFolder({}), await withFingerprint()];
    const read = (folder: string) => readFileSync(join(folder, 'adapter_config.json'), 'utf8');
    expect(read(marked)).toBe(read(plain));
  });

  it('is rejected if the fingerprint is damaged', async () => {
    const folder = await withFingerprint();
    const file = join(folder, 'adapter_model.safetensors');
    const reader = await openSafetensors(file);
    const tensors = await Promise.all(
      reader.tensors.map(async ({ name, shape }) => ({
        name,
        shape,
        data: await reader.read(name),
      })),
    );
    await reader.close();
    await writeSafetensors(file, {
      tensors,
      stream: tensors,
      metadata: { 'proximal.base': '{"config": {}' },
    });
    await expect(readAdapter(folder, trained)).rejects.toThrow(
      `Cannot read ${file}: "proximal.base" in its metadata must be the fingerprint of a base`,
    );
  });
});

describe('an adapter without a fingerprint', () => {
  it('is read over a base of another name with a warning', async () => {
    const folder = await makeFolder({});
    const { warning } = await readAdapter(folder, makeBase('/models/other', { seed: 2 }));
    expect(warning).toBe(
      `The adapter ${folder} was trained on org/trained according to its config, and is used with /models/other; it has no fingerprint of its base, so only shapes were compared`,
    );
  });

  it('is read over a copy of its base without a warning', async () => {
    const { warning } = await readAdapter(await makeFolder({}), makeBase('/models/Trained'));
    expect(warning).toBeUndefined();
  });
});
