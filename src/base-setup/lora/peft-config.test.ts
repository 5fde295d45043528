import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { readPeftConfig } from './peft-config.ts';

const valid = { peft_type: 'LORA', r: 4, lora_alpha: 8 };

function writeConfig(text: string): { folder: string; file: string } {
  const folder = makeTempFolder();
  const file = join(folder, 'adapter_config.json');
  writeFileSync(file, text);
  return { folder, file };
}

async function expectError(changes: object, make: (file: string) => Error): Promise<void> {
  const { folder, file } = writeConfig(JSON.stringify({ ...valid, ...changes }));
  await expect(readPeftConfig(folder)).rejects.toThrow(make(file));
}

describe('readPeftConfig()', () => {
  it('takes what is absent as PEFT does', async () => {
    const { folder } = writeConfig(JSON.stringify(valid));
    expect(await readPeftConfig(folder)).toEqual({
      lora: { r: 4, lora_alpha: 8, lora_dropout: 0, use_rslora: false },
      baseModelNameOrPath: undefined,
      taskType: undefined,
    });
  });

  it('takes unused features and ways to draw the first weights as they are', async () => {
    const unused = { use_dora: false, rank_pattern: {}, layers_to_transform: null, bias: 'none' };
    const { folder } = writeConfig(
      JSON.stringify({ ...valid, ...unused, layer_replication: [], init_lora_weights: 'gaussian' }),
    );
    expect((await readPeftConfig(folder)).lora.r).toBe(4);
  });

  it('refuses text that is not JSON', async () => {
    const { folder, file } = writeConfig('{"r": 4');
    // The end of the message is the engine's, and differs between its versions.
    await expect(readPeftConfig(folder)).rejects.toThrow(
      `Cannot read ${file}: it must be JSON (Expected ',' or '}' after property value in JSON at position 7`,
    );
    await expect(readPeftConfig(folder)).rejects.toThrow(SyntaxError);
  });

  it.each([
    ['[]', 'an array'],
    ['null', 'null'],
    ['4', '4'],
  ])('refuses %s instead of an object', async (text, got) => {
    const { folder, file } = writeConfig(`${text}\n`);
    await expect(readPeftConfig(folder)).rejects.toThrow(
      new TypeError(`Cannot read ${file}: it must be an object, got ${got}`),
    );
  });

  it.each([
    [{ peft_type: 'LOHA' }, '"peft_type" must be "LORA", got "LOHA"'],
    [{ peft_type: undefined }, '"peft_type" must be "LORA", got nothing'],
    [{ r: 0 }, '"r" must be a whole number > 0, got 0'],
    [{ r: 2.5 }, '"r" must be a whole number > 0, got 2.5'],
    [{ r: '8' }, '"r" must be a whole number > 0, got "8"'],
    [{ r: undefined }, '"r" must be a whole number > 0, got nothing'],
    [{ lora_alpha: null }, '"lora_alpha" must be a number, got null'],
    [{ lora_dropout: 1 }, '"lora_dropout" must be a number from 0 up to 1, got 1'],
    [{ use_rslora: 1 }, '"use_rslora" must be true or false, got 1'],
    [
      { bias: 'lora_only' },
      '"bias" must be "none", as biases of the base are shared by all roles, got "lora_only"',
    ],
  ])('refuses %j', async (changes, message) => {
    await expectError(changes, (file) => new TypeError(`Cannot read ${file}: ${message}`));
  });

  it.each([
    [{ use_dora: true }, '"use_dora" must not be set, got true; DoRA'],
    [
      { rank_pattern: { q_proj: 2 } },
      '"rank_pattern" must not be set, got {"q_proj":2}; ranks by module',
    ],
    [
      { alpha_pattern: { q_proj: 2 } },
      '"alpha_pattern" must not be set, got {"q_proj":2}; alphas by module',
    ],
    [
      { layers_to_transform: [0] },
      '"layers_to_transform" must not be set, got [0]; adapters of some layers only',
    ],
    [
      { layers_to_transform: 0 },
      '"layers_to_transform" must not be set, got 0; adapters of some layers only',
    ],
    [{ lora_bias: true }, '"lora_bias" must not be set, got true; a bias in B'],
  ])('refuses the unsupported %j', async (changes, message) => {
    await expectError(
      changes,
      (file) =>
        new Error(`Cannot read ${file}: ${message} cannot be read, merge the adapter with PEFT`),
    );
  });

  it('refuses an adapter that took part of the weights of the base', async () => {
    await expectError(
      { init_lora_weights: 'pissa' },
      (file) =>
        new Error(
          `Cannot read ${file}: "init_lora_weights" must leave the base as it is, got "pissa"; merge the adapter with PEFT`,
        ),
    );
  });
});
