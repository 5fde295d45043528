import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixtureFolder, fixtureNames, loadFolder } from '../../../test/helpers/model-fixtures.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { openSafetensors } from '../../base-setup/safetensors/open-weights.ts';

/** A copy of a fixture with some fields of its config.json changed. */
function changeConfig(name: string, changes: Record<string, unknown>): string {
  const folder = copyFixture(name);
  const file = join(folder, 'config.json');
  const json = { ...JSON.parse(readFileSync(file, 'utf8')), ...changes };
  writeFileSync(file, JSON.stringify(json));
  return folder;
}

function copyFixture(name: string): string {
  const folder = makeTempFolder();
  cpSync(fixtureFolder(name), folder, { recursive: true });
  return folder;
}

describe('loadBase()', () => {
  test('is tested with weights of every float type, in one file and in shards', async () => {
    const stored = await Promise.all(
      fixtureNames.map(async (name) => {
        const reader = await openSafetensors(fixtureFolder(name));
        await reader.close();
        const files = new Set(reader.tensors.map(({ file }) => file)).size;
        return `${reader.info(reader.tensors[0]?.name ?? '').dtype} in ${files}`;
      }),
    );
    expect([...new Set(stored)].sort()).toEqual(['BF16 in 1', 'F16 in 1', 'F32 in 1', 'F32 in 3']);
  });

  test('only an untied model has its own head', async () => {
    const tied = await loadFolder(fixtureFolder('qwen3-tied'));
    const untied = await loadFolder(fixtureFolder('qwen3-untied'));
    expect(tied.weights.has('lm_head.weight')).toBe(false);
    expect(tied.weight(tied.headName)).toBe(tied.weight('model.embed_tokens.weight'));
    expect(untied.weight(untied.headName)).toBe(untied.weight('lm_head.weight'));
    expect(untied.weight(untied.headName).data[0]).not.toBe(
      untied.weight('model.embed_tokens.weight').data[0],
    );
  });

  describe('rejects', () => {
    const wrongModel = 'the weights belong to another model';

    test('weights whose shape differs from the config', async () => {
      const folder = changeConfig('llama-gqa', { intermediate_size: 48 });
      await expect(loadFolder(folder)).rejects.toThrow(
        new RangeError(
          `Cannot load ${folder}: according to its config.json "model.layers.0.mlp.gate_proj.weight" must be [48,32], got [40,32]; ${wrongModel}`,
        ),
      );
    });

    test('weights without a tensor of the config', async () => {
      const folder = changeConfig('llama-gqa', { num_hidden_layers: 3 });
      await expect(loadFolder(folder)).rejects.toThrow(
        new RangeError(
          `Cannot load ${folder}: according to its config.json "model.layers.2.input_layernorm.weight" must be [32], got no tensor of that name; ${wrongModel}`,
        ),
      );
    });

    test('weights of another family', async () => {
      const folder = changeConfig('qwen2-tied', { model_type: 'qwen3', head_dim: 8 });
      await expect(loadFolder(folder)).rejects.toThrow(
        new RangeError(
          `Cannot load ${folder}: according to its config.json "model.layers.0.self_attn.q_norm.weight" must be [8], got no tensor of that name; ${wrongModel}`,
        ),
      );
    });

    test('an untied config without a head in the file', async () => {
      const folder = changeConfig('qwen2-tied', { tie_word_embeddings: false });
      await expect(loadFolder(folder)).rejects.toThrow(
        new RangeError(
          `Cannot load ${folder}: according to its config.json "lm_head.weight" must be [96,32], got no tensor of that name; ${wrongModel}`,
        ),
      );
    });
  });
});

describe('readConfig()', () => {
  const readInvalid = async (text: string) => {
    const folder = copyFixture('llama-linear');
    const file = join(folder, 'config.json');
    writeFileSync(file, text);
    const error = await loadFolder(folder).catch((reason: Error) => reason);
    return { file, error };
  };

  test('reports where JSON is invalid', async () => {
    const { file, error } = await readInvalid('{"model_type": ');
    expect(error).toEqual(
      new SyntaxError(`Cannot read ${file}: it must be JSON (Unexpected end of JSON input)`),
    );
  });

  test.each([
    ['[]', 'an array'],
    ['null', 'null'],
    ['"llama"', '"llama"'],
  ])('rejects %s, which is not an object', async (text, got) => {
    const { file, error } = await readInvalid(text);
    expect(error).toEqual(new TypeError(`Cannot read ${file}: it must be an object, got ${got}`));
  });

  test('names the file in errors of its fields', async () => {
    const { file, error } = await readInvalid('{"model_type": "llama", "hidden_size": "wide"}');
    expect(error).toEqual(
      new TypeError(`Cannot read ${file}: "hidden_size" must be a number, got "wide"`),
    );
  });
});
