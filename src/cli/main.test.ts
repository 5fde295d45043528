import { describe, expect, test } from 'vitest';
import { runCli, runInProcess } from '../../test/helpers/run-cli.ts';
import { version } from '../version.ts';

describe('proximal', { timeout: 30_000 }, () => {
  test('--version prints the package version', async () => {
    expect(await runCli('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('without arguments prints the same help as --help and succeeds', async () => {
    const help = await runInProcess('--help');
    expect(help.stdout).toMatch(/^Usage: proximal/);
    expect(help.status).toBe(0);
    expect(await runInProcess()).toEqual(help);
  });

  test('exits with code 2 for an unknown command and 1 for a failure', async () => {
    const [unknown, failure] = await Promise.all([
      runCli('fly'),
      runCli('control', './nowhere', 'pause'),
    ]);
    expect([unknown.status, failure.status]).toEqual([2, 1]);
    expect(failure.stderr).toMatch(/^Cannot pause \.\/nowhere: .*\n$/);
  });

  test.each([
    [['fly'], 'Unknown command "fly": run "proximal --help" to see all commands\n'],
    [['genrate'], 'Unknown command "genrate": did you mean "generate"?\n'],
    [['--fly'], "error: unknown option '--fly'\n"],
    [
      ['inspect', '--model', 'x', '--jsn'],
      "error: unknown option '--jsn' (Did you mean --json?)\n",
    ],
    [['inspect'], "error: required option '--model <model>' not specified\n"],
    [
      ['generate', '--model', 'x'],
      'Cannot generate: pass --prompt or --prompt-file, got neither\n',
    ],
    [
      ['generate', '--model', 'x', '--prompt', 'y', '--top-p', '1.5'],
      'Cannot use --top-p: it must be a number > 0 and ≤ 1, got "1.5"\n',
    ],
  ])('%j fails with one line and exit code 2', async (args, stderr) => {
    expect(await runInProcess(...args)).toEqual({ status: 2, stdout: '', stderr });
  });
});
