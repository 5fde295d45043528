import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { caseFolder, recordCase } from '../../test/helpers/oracle-case.ts';
import {
  computeLogits,
  peftFamilies,
  peftFolder,
  readPeftGolden,
} from '../../test/helpers/peft-golden.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { openSafetensors } from '../base-setup/safetensors/open-weights.ts';
import { randomStream } from '../engine/random/index.ts';
import { tensor } from '../engine/runtime/index.ts';
import { PolicyModel, randomHead, ValueModel, zeroHead } from '../models/index.ts';
import { loadRoles, saveRoles } from './roles-files.ts';

const sequences = [[7, 1, 25, 3, 3, 9], [12], [0, 63]];

/** A policy and a value model; `isTrained` decides whether B, head and bias are nonzero. */
async function makeRoles(family: (typeof peftFamilies)[number], isTrained: boolean) {
  const { base } = await readPeftGolden(family);
  const tokenizer = tinyTokenizer();
  const size = base.architecture.config.hidden_size;
  const random = randomStream(1, 'B');
  const adapter = () => {
    const fresh = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
    for (const [name, { data }] of fresh.weights) {
      if (isTrained && name.includes('lora_B')) data.set(data.map(() => 0.3 * random.normal()));
    }
    return fresh;
  };
  const bias = tensor(Float32Array.of(isTrained ? -1.5 : 0), [1]);
  const head = isTrained ? randomHead(size) : zeroHead(size);
  return {
    model: { base, tokenizer, folder: peftFolder(family, 'base') },
    policy: new PolicyModel({ base, tokenizer, adapter: adapter() }),
    value: new ValueModel({ base, adapter: adapter(), head, bias }),
  };
}

// If PROXIMAL_CASES is set, these folders are kept and tools/oracle/peft/check_ours.py opens them with PEFT.
describe.each(peftFamilies)('The roles that a trainer of %s saves', (family) => {
  it('compute the same after loading, in the format that PEFT opens', async () => {
    const folders = {
      policyFolder: caseFolder(`${family}-saved-policy`),
      valueFolder: caseFolder(`${family}-saved-value`),
    };
    const trained = await makeRoles(family, true);
    const { base, folder } = trained.model;
    await saveRoles(trained, folders);
    const loaded = await makeRoles(family, false);
    await loadRoles(loaded, folders);
    const values = await trained.value.forward(sequences);
    expect(await loaded.value.forward(sequences)).toEqual(values);
    const logits = await computeLogits(base, sequences, trained.policy.adapter);
    expect(await computeLogits(base, sequences, loaded.policy.adapter)).toEqual(logits);
    await recordCase(folders.policyFolder, { sequences, logits, base: folder });
    const numbers = Float32Array.from(values.flatMap((row) => [...row]));
    await recordCase(folders.valueFolder, { sequences, logits: numbers, base: folder });
    await trained.policy.dispose();
    await loaded.policy.dispose();
    await expectTokenClassifier(folders.valueFolder, family === 'gpt2' ? 'classifier' : 'score');
  });
});

/** A token classifier of transformers has a head with a bias, whose name depends on the family. */
async function expectTokenClassifier(folder: string, module: string): Promise<void> {
  const config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
  expect(config).toMatchObject({ task_type: 'TOKEN_CLS', modules_to_save: [module] });
  expect(config.fan_in_fan_out).toBe(module === 'classifier');
  const reader = await openSafetensors(join(folder, 'adapter_model.safetensors'));
  expect(reader.info(`base_model.model.${module}.weight`).shape).toEqual([1, expect.any(Number)]);
  expect([...(await reader.read(`base_model.model.${module}.bias`))]).toEqual([-1.5]);
  await reader.close();
}
