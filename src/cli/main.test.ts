import { describe, expect, test } from 'vitest';
import { runCli, runInProcess } from '../../test/helpers/run-cli.ts';
import { version } from '../version.ts';

describe('proximal', () => {
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
    [['--fly'], 'Unknown flag "--fly": run the command with --help to see all flags\n'],
    [['inspect', '--model', 'x', '--jsn'], 'Unknown flag "--jsn": did you mean "--json"?\n'],
    [['inspect'], 'Cannot start: --model must be set, got nothing\n'],
    [
      ['generate', '--model', 'x'],
      'Cannot generate: pass --prompt or --prompt-file, got neither\n',
    ],
    [['generate', '--model'], 'Cannot use --model: it must have a value, got nothing\n'],
    [
      ['evaluate', 'runs/a', 'b'],
      'Cannot start evaluate: it takes 0 arguments besides flags, got 2\n',
    ],
    [['report'], 'Cannot start: <run> must be set, got nothing\n'],
    [['train', '--batchSize', '4'], 'Unknown flag "--batchSize": did you mean "--batch-size"?\n'],
    [
      ['train', '--schedule', 'cosin'],
      'Cannot use --schedule: it must be constant, linear or cosine, got "cosin"; did you mean "cosine"?\n',
    ],
    [
      ['train', '--prompts', 'p.txt', '--reward', 'brevity', '--mini-batch-size', '9'],
      'Cannot use the flags: --mini-batch-size must be at most --batch-size × --samples-per-prompt (4), got 9\n',
    ],
    [
      ['sft'],
      'Cannot use the flags: --data must be set to a file such as data.jsonl or the id of a hub dataset, got nothing\n',
    ],
    [
      ['train', '--reward', 'brevity'],
      'Cannot use the flags: --prompts must be text that is not empty, got nothing\n',
    ],
    [
      ['init', '--out', 'x', '--hidden-size', '10', '--num-attention-heads', '3'],
      /--hidden-size must be a multiple of --num-attention-heads \(3\)/,
    ],
    [
      ['dashboard', '--port', 'x'],
      'Cannot use --port: got "x", it must be a whole number from 0 to 65535.\n',
    ],
    [
      ['generate', '--model', 'x', '--prompt', 'y', '--top-p', '1.5'],
      'Cannot use --top-p: it must be a number > 0 and ≤ 1, got "1.5"\n',
    ],
  ])('%j fails with one line and exit code 2', async (args, stderr) => {
    expect(await runInProcess(...args)).toEqual({
      status: 2,
      stdout: '',
      stderr: typeof stderr === 'string' ? stderr : expect.stringMatching(stderr),
    });
  });
});
