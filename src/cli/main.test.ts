import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { version } from '../version.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

function proximal(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', main, ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('proximal', () => {
  test('--version prints the package version', () => {
    expect(proximal('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('without arguments prints the same help as --help and succeeds', () => {
    const help = proximal('--help');
    expect(help.stdout).toMatch(/^Usage: proximal/);
    expect(help.status).toBe(0);
    expect(proximal()).toEqual(help);
  });

  test.each([
    ['fly', 'Unknown command "fly": run "proximal --help" for what exists\n'],
    ['--fly', "error: unknown option '--fly'\n"],
  ])('%s fails with one line and exit code 2', (argument, stderr) => {
    expect(proximal(argument)).toEqual({ status: 2, stdout: '', stderr });
  });
});
