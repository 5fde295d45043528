import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { readPeftConfig } from './peft-files.ts';

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
  it('fills in PEFT’s defaults for missing keys', async () => {
    const { folder } = writeConfig(JSON.stringify(valid));
    expect(await readPeftConfig(folder)).toEqual({
      lora: { r: 4, lora_alpha: 8, lora_dropout: 0, use_rslora: false },
      baseModelNameOrPath: undefined,
      taskType: undefined,
    });
  });

  it('accepts unset features and initialisations that leave the base unchanged', async () => {
    const unused = { use_dora: false, rank_pattern: {}, layers_to_transform: null, bias: 'none' };
    const { folder } = writeConfig(
      JSON.stringify({ ...valid, ...unused, layer_replication: [], init_lora_weights: 'gaussian' }),
    );
    expect((await readPeftConfig(folder)).lora.r).toBe(4);
  });

  it('rejects text that is not JSON', async () => {
    const { folder, file } = writeConfig('{"r": 4');
    // The end of the message comes from V8 and differs between versions.
    await expect(readPeftConfig(folder)).rejects.toThrow(
      `Cannot read ${file}: it must be JSON (Expected ',' or '}' after property value in JSON at position 7`,
    );
    await expect(readPeftConfig(folder)).rejects.toThrow(SyntaxError);
  });

  it.each([
    ['[]', 'an array'],
    ['null', 'null'],
    ['4', '4'],
  ])('rejects %s, which is not an object', async (text, got) => {
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
    [{ lora_dropout: 1 }, '"lora_dropout" must be a number ≥ 0 and < 1, got 1'],
    [{ use_rslora: 1 }, '"use_rslora" must be true or false, got 1'],
    [
      { bias: 'lora_only' },
      '"bias" must be "none" because all roles share the biases of the base, got "lora_only"',
    ],
  ])('rejects %j', async (changes, message) => {
    await expectError(changes, (file) => new TypeError(`Cannot read ${file}: ${message}`));
  });

  it.each([
    [{ use_dora: true }, '"use_dora" must not be set, got true; DoRA'],
    [
      { rank_pattern: { q_proj: 2 } },
      '"rank_pattern" must not be set, got {"q_proj":2}; a rank per module',
    ],
    [
      { alpha_pattern: { q_proj: 2 } },
      '"alpha_pattern" must not be set, got {"q_proj":2}; an alpha per module',
    ],
    [{ lora_bias: true }, '"lora_bias" must not be set, got true; a bias in B'],
  ])('rejects the unsupported %j', async (changes, message) => {
    await expectError(
      changes,
      (file) =>
        new Error(`Cannot read ${file}: ${message} is not supported, merge the adapter with PEFT`),
    );
  });

  it('rejects an initialisation that moves base weights into the adapter', async () => {
    await expectError(
      { init_lora_weights: 'pissa' },
      (file) =>
        new Error(
          `Cannot read ${file}: "init_lora_weights" must leave the base unchanged, got "pissa"; merge the adapter with PEFT`,
        ),
    );
  });
});
