import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './helpers/doc-snippets.ts';

function run(command: string, ...args: string[]) {
  const { stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { stdout, stderr };
}

/** The paths of all files in the package, without those of the build. */
function packedFiles(): Set<string> {
  const { stdout } = run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts');
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
  return new Set(files.map(({ path }) => path));
}

/** The links of a Markdown text to files. */
function fileLinks(text: string): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe('the package', () => {
  test('contains everything that its README links to', () => {
    const files = packedFiles();
    const links = fileLinks(readFileSync(join(root, 'README.md'), 'utf8'));
    expect(links.length).toBeGreaterThan(10);
    const isPacked = (link: string) =>
      files.has(link) || [...files].some((path) => path.startsWith(`${link}/`));
    expect(links.filter((link) => !isPacked(link))).toEqual([]);
  }, 60_000);

  test('contains every other page that its docs and examples link to', () => {
    const files = [...packedFiles()];
    const pages = files.filter((path) => path.endsWith('.md') && path !== 'README.md');
    for (const page of pages) {
      const targets = fileLinks(readFileSync(join(root, page), 'utf8'))
        .map((link) => posix.join(posix.dirname(page), link))
        .filter((target) => target.endsWith('.md'));
      expect(
        targets.filter((target) => !files.includes(target)),
        page,
      ).toEqual([]);
    }
  }, 60_000);

  test('does not cause npm warnings about its settings', () => {
    // The user's own settings are left out.
    const { stdout, stderr } = run('npm', 'config', 'list', '--userconfig', '/dev/null');
    expect(stdout).toContain('ignore-scripts = true');
    expect(stderr).not.toContain('Unknown project config');
  }, 60_000);
});
