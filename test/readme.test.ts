import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';

const { text: readme, blocks } = readDocument('README.md');
const folder = new SnippetFolder();

describe('the README', { timeout: 60_000 }, () => {
  beforeAll(() => folder.fillCache());
  afterAll(() => folder.remove());

  test('names the two commands', () => {
    expect(readme).toContain('npm ci && npm start');
    expect(readme).toContain('npm ci && npm test');
  });

  test('shows how to generate: a logprob and a piece on each line', () => {
    const { status, stdout, stderr } = folder.runSnippet(blocks('ts')[0]!);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBe(20);
    expect(stdout).toMatch(/^(-\d+\.\d{3} ?.*\n)+$/);
  });

  test('shows how to train a graph of one’s own: the weights are found', () => {
    const { status, stdout } = folder.runSnippet(blocks('ts')[1]!);
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
        .replace('my-model', join(folder.path, 'my-model'));
      const { status, stderr } = folder.run('bash', ['-c', command]);
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
