import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';

const { text: readme, blocks } = readDocument('README.md');
const folder = new SnippetFolder();

describe('the README', () => {
  beforeAll(async () => {
    await folder.fillCache();
    const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
    write('prompts.txt', 'One\nTwo\nThree\nFour\n');
    write('reward.ts', blocks('ts')[1]!);
  });
  afterAll(() => folder.remove());

  test('names the two commands', () => {
    expect(readme).toContain('npm ci && npm start');
    expect(readme).toContain('npm ci && npm test');
  });

  test('shows how to train: one line per epoch, and an adapter at the end', () => {
    const { status, stdout, stderr } = folder.runSnippet(blocks('ts')[0]!);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    lines.slice(0, 20).forEach((line, i) => {
      expect(line).toMatch(new RegExp(`^${i + 1} \\d\\S* -?\\d\\S*$`));
    });
    expect(lines[20]).toBe('All steps are done');
  });

  test('shows how to generate: a logprob and a piece per line', () => {
    const { status, stdout, stderr } = folder.runSnippet(blocks('ts')[2]!);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBe(20);
    expect(stdout).toMatch(/^(-\d+\.\d{3} ?.*\n)+$/);
  });

  test('shows how to train a custom graph: it finds the weights', () => {
    const { status, stdout } = folder.runSnippet(blocks('ts')[3]!);
    expect(status).toBe(0);
    const [a, b] = [...stdout.matchAll(/-?\d+\.\d+/g)].map(Number);
    expect(a).toBeCloseTo(2, 1);
    expect(b).toBeCloseTo(-1, 1);
  });

  test.each(blocks('sh').flatMap((block) => block.match(/^npx proximal (.*\\\n)*.*$/gm) ?? []))(
    '%s',
    (line) => {
      const command = line
        .replace('npx proximal', 'npx tsx src/cli/main.ts')
        // It runs until it is interrupted.
        .replace('dashboard runs', 'dashboard --help')
        .replaceAll(
          /my-model|friendly-model|prompts\.txt|reward\.ts|runs\/first|first\.html/g,
          (name) => join(folder.path, name),
        );
      const { status, stderr } = folder.run('bash', ['-c', command]);
      expect(stderr).not.toMatch(/^Cannot/m);
      expect(status).toBe(0);
    },
  );

  test('links only to files that exist', () => {
    for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g)) {
      expect(() => readFileSync(join(root, path!)), path).not.toThrow();
    }
  });
});
