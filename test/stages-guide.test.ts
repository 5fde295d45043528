import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';

const { blocks } = readDocument('docs/stages.md');
const folder = new SnippetFolder();

describe('the guide to stages', () => {
  beforeAll(async () => {
    await folder.fillCache();
    const [texts, pairs] = blocks('jsonl');
    writeFileSync(join(folder.path, 'texts.jsonl'), texts!);
    writeFileSync(join(folder.path, 'pairs.jsonl'), pairs!);
  });
  afterAll(() => folder.remove());

  test('every command runs, in order', () => {
    const commands = blocks('sh').join('').trim().split('\n');
    expect(commands).toHaveLength(3);
    const tsx = join(root, 'node_modules/tsx/dist/loader.mjs');
    const start = ['--import', tsx, join(root, 'src/cli/main.ts')];
    for (const command of commands) {
      const [name, ...args] = command.split(' ');
      expect(name).toBe('proximal');
      const { status, stderr } = folder.run(process.execPath, [...start, ...args], folder.path);
      expect(stderr).not.toContain('Warning');
      expect(status, stderr).toBe(0);
    }
    for (const run of ['sft', 'reward', 'ppo']) {
      const file = join(folder.path, 'runs', run, 'model/adapter_config.json');
      const { base_model_name_or_path: base } = JSON.parse(readFileSync(file, 'utf8'));
      expect(base).toBe('Qwen/Qwen3-0.6B-Base');
    }
  });

  test('every snippet runs', () => {
    const snippets = blocks('ts');
    expect(snippets).toHaveLength(2);
    const printed = snippets.map((code) => {
      const { status, stdout, stderr } = folder.runSnippet(code);
      expect(stderr).toBe('');
      expect(status).toBe(0);
      return stdout;
    });
    expect(printed[0]).toMatch(/my-sft\/model \d+\.\d+\n[01](\.\d+)? [01](\.\d+)?\n$/);
    expect(printed[1]).toBe('run-start\nstep\nepoch\nstep\nepoch\nstep\nepoch\nrun-end\n');
    expect(existsSync(join(folder.path, 'my-sft/model/model.safetensors'))).toBe(true);
    expect(existsSync(join(folder.path, 'my-reward-model/adapter_config.json'))).toBe(true);
  });
});
