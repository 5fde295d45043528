import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveModel } from '../src/models/decoder/save-model.ts';
import { tinyModel, tinyTokenizerFiles } from './helpers/generation-tiny-model.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'proximal-readme-'));

/** Code blocks of a language, in order. */
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, code]) => code!,
  );

/** A tiny model in Hugging Face's cache, under the name of the one that the README loads. */
async function fillCache(): Promise<void> {
  const repository = join(folder, 'hub', 'models--Qwen--Qwen3-0.6B-Base');
  const snapshot = join(repository, 'snapshots', 'a'.repeat(40));
  mkdirSync(join(repository, 'refs'), { recursive: true });
  writeFileSync(join(repository, 'refs', 'main'), 'a'.repeat(40));
  mkdirSync(snapshot, { recursive: true });
  await saveModel(join(folder, 'saved'), tinyModel());
  cpSync(join(folder, 'saved'), snapshot, { recursive: true });
  for (const [name, json] of Object.entries(tinyTokenizerFiles())) {
    writeFileSync(join(snapshot, name), JSON.stringify(json));
  }
}

function run(command: string, args: readonly string[]) {
  const env = { ...process.env, HF_HOME: folder, HF_HUB_OFFLINE: '1' };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', env });
  return { status, stdout, stderr };
}

function runSnippet(code: string) {
  const file = join(folder, 'snippet.mts');
  writeFileSync(file, code.replace("'proximal'", `'${join(root, 'src/index.ts')}'`));
  return run(process.execPath, ['--import', 'tsx', file]);
}

describe('the README', { timeout: 60_000 }, () => {
  beforeAll(fillCache);
  afterAll(() => rmSync(folder, { recursive: true }));

  test('names the two commands', () => {
    expect(readme).toContain('npm ci && npm start');
    expect(readme).toContain('npm ci && npm test');
  });

  test('shows how to generate: a logprob and a piece on each line', () => {
    const { status, stdout, stderr } = runSnippet(blocks('ts')[0]!);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBe(20);
    expect(stdout).toMatch(/^(-\d+\.\d{3} ?.*\n)+$/);
  });

  test('shows how to train a graph of one’s own: the weights are found', () => {
    const { status, stdout } = runSnippet(blocks('ts')[1]!);
    expect(status).toBe(0);
    const [a, b] = [...stdout.matchAll(/-?\d+\.\d+/g)].map(Number);
    expect(a).toBeCloseTo(2, 1);
    expect(b).toBeCloseTo(-1, 1);
  });

  test.each(blocks('sh').flatMap((block) => block.match(/^npx proximal .*$/gm) ?? []))(
    '%s',
    (line) => {
      const command = line
        .replace('npx proximal', 'npx tsx src/cli/main.ts')
        .replace('my-model', join(folder, 'my-model'));
      const { status, stderr } = run('bash', ['-c', command]);
      expect(stderr).not.toMatch(/^Cannot/m);
      expect(status).toBe(0);
    },
  );

  test('links only to files that are there', () => {
    for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g)) {
      expect(() => readFileSync(join(root, path!)), path).not.toThrow();
    }
  });
});
