import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { loadConfigFile } from './load-config-file.ts';

function write(name: string, text: string): string {
  const file = join(makeTempFolder(), name);
  writeFileSync(file, text);
  return file;
}

describe('loadConfigFile()', () => {
  test.each([
    ['a.yaml', 'batchSize: 8 # eight\nreward: r.ts\nstop: ["\\n", x]\n'],
    ['a.yml', '{ batchSize: 8, reward: [r.ts], stop: ["\\n", x] }'],
    ['a.json', '{\n\t"batchSize": 8,\n\t"reward": ["r.ts"],\n\t"stop": ["\\n", "x"]\n}'],
    [
      'a.ts',
      'interface A { n: number }\nconst a: A = { n: 8 };\nexport default { batchSize: a.n, reward: "r.ts", stop: ["\\n", "x"] };',
    ],
    ['a.cjs', 'module.exports = { batchSize: 8, reward: ["r.ts"], stop: ["\\n", "x"] };'],
  ])('reads %s', async (name, text) => {
    const file = write(name, text);
    const reward = [join(file, '..', 'r.ts')];
    expect(await loadConfigFile(file)).toEqual({ batchSize: 8, reward, stop: ['\n', 'x'] });
  });

  test('rejects a list that contains itself', async () => {
    const file = write('a.yaml', 'stop: &a [x, *a]\n');
    await expect(loadConfigFile(file)).rejects.toThrow(
      `Cannot use ${file}: a value must not contain itself, got one that does; remove the alias (*) or reference`,
    );
  });

  test('accepts model for modelName, but not both', async () => {
    const file = write('a.yaml', 'model: owner/name\n');
    expect(await loadConfigFile(file)).toEqual({ modelName: 'owner/name' });
    const both = write('b.yaml', 'model: a/b\nmodelName: a/b\n');
    await expect(loadConfigFile(both)).rejects.toThrow(
      `Cannot use ${both}: it must have "model" or "modelName", which mean the same, got both`,
    );
    const empty = write('c.yaml', 'seed: 1\nmodel: ""\n');
    await expect(loadConfigFile(empty)).rejects.toThrow(
      `Cannot use ${empty} line 2: modelName must be text that is not empty, got ""`,
    );
  });

  test('resolves relative paths against the file’s folder', async () => {
    const file = write('a.yaml', 'modelName: model\nprompts: ../p.jsonl\noutput: runs/a\n');
    const folder = join(file, '..');
    mkdirSync(join(folder, 'model'));
    expect(await loadConfigFile(file)).toEqual({
      modelName: join(folder, 'model'),
      prompts: join(folder, '..', 'p.jsonl'),
      output: join(folder, 'runs/a'),
    });
  });

  test.each([
    ['a.yaml', 'seed: 1\nlerningRate: 1\n', ' line 2: it has no "lerningRate"; did you mean'],
    ['a.yaml', 'seed: 1\n\nbatchSize: 0\n', ' line 3: batchSize must be a whole number ≥ 1, got 0'],
    ['a.json', '{\n  "seed": "x"\n}', ' line 2: seed must be a whole number, got "x"'],
    ['a.yaml', 'topK:\n', ' line 1: topK must be a whole number ≥ 1, got null'],
    ['a.yaml', '- a\n', ': it must contain keys and values, got a list; write lines such as'],
    ['a.yaml', '', ': it must contain keys and values, got nothing; write lines such as'],
    ['a.mjs', 'export default { gama: 1 }', ': it has no "gama"; did you mean "gamma"?'],
  ])('%s with %j fails and names the line', async (name, text, error) => {
    const file = write(name, text);
    await expect(loadConfigFile(file)).rejects.toThrow(`Cannot use ${file}${error}`);
  });

  test('reports where YAML is invalid and why a program failed', async () => {
    const yaml = write('a.yaml', 'seed: 1\nstop: [a\nbatchSize: 2\n');
    await expect(loadConfigFile(yaml)).rejects.toThrow(`Cannot read ${yaml} line 3, column 1: `);
    const twice = write('a.yaml', 'seed: 1\nseed: 2\n');
    await expect(loadConfigFile(twice)).rejects.toThrow(`Cannot read ${twice} line 2, column 1: `);
    const alias = write('d.yaml', 'seed: *unknown\n');
    await expect(loadConfigFile(alias)).rejects.toThrow(
      `Cannot read ${alias}: it must be valid YAML or JSON (`,
    );
    const deep = write('e.yaml', `seed: ${'['.repeat(20_000)}`);
    await expect(loadConfigFile(deep)).rejects.toThrow('values must be nested less deeply');
    const program = write('a.ts', 'throw new Error("no\\n luck");');
    await expect(loadConfigFile(program)).rejects.toThrow(`Cannot load ${program}: no luck`);
  });

  test('reports a missing file and an unknown extension', async () => {
    await expect(loadConfigFile('nowhere.yaml')).rejects.toThrow(
      'Cannot read the config nowhere.yaml: it must be a file, got no such file',
    );
    await expect(loadConfigFile('a.toml')).rejects.toThrow(
      'Cannot read the config a.toml: its name must end in .yaml, .yml, .json, .ts or .js, got ".toml"',
    );
  });
});
