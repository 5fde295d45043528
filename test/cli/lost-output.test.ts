import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { cliCommand, endOf, runInProcess, startCli } from '../helpers/run-cli.ts';
import { completionRows, pairRows, readLog, writeRows } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const train = (output: string) => ['train', '--config', at('train.yaml'), '--output', at(output)];

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeRows(folder, 'texts.jsonl', completionRows());
  writeRows(folder, 'pairs.jsonl', pairRows());
});

/** Runs the program in a shell, with redirections after its arguments. */
function runInShell(args: readonly string[], redirections: string) {
  const command = `PROXIMAL_DEBUG= HF_HUB_OFFLINE=1 ${cliCommand} ${args.join(' ')} ${redirections}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Starts the program and closes some of its outputs after the first line of the first one. */
async function runWithReaderGone(
  [first, ...more]: readonly ['stdout' | 'stderr', ...('stdout' | 'stderr')[]],
  args: readonly string[],
) {
  const child = startCli(...args);
  child.stdin.end();
  const ended = endOf(child);
  child[first].once('data', () => {
    for (const name of [first, ...more]) child[name].destroy();
  });
  return ended;
}

function expectComplete(run: string, steps: number): void {
  const state = JSON.parse(readFileSync(join(at(run), 'run.json'), 'utf8'));
  expect(state).toMatchObject({ status: 'completed', step: steps });
  const metrics = readFileSync(join(at(run), 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(metrics).toHaveLength(steps);
  expect(existsSync(join(at(run), 'model/adapter_model.safetensors'))).toBe(true);
}

describe('a run whose output is closed continues and saves everything', () => {
  test('train --json | head -1', async () => {
    const args = [...train('json'), '--json'];
    const { status, stderr } = await runWithReaderGone(['stdout'], args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expectComplete('json', 6);
  });

  test('train, if nobody reads standard error', async () => {
    const { status, stdout } = await runWithReaderGone(['stderr'], train('quiet'));
    expect(stdout).toMatch(/^All steps are done\. 6 steps in/);
    expect(status).toBe(0);
    expectComplete('quiet', 6);
  });

  const course = ['--batch-size', '2', '--validation-fraction', '0'];

  test.each(['sft', 'reward'])('%s, if nobody reads either', async (command) => {
    const data = at(command === 'sft' ? 'texts.jsonl' : 'pairs.jsonl');
    const args = [command, '--model', at('model'), '--data', data, '--output', at(command)];
    const { status } = await runWithReaderGone(['stderr', 'stdout'], [...args, ...course]);
    expect(status).toBe(0);
    expectComplete(command, 6);
  });

  test('train, if its outputs are closed from the start', () => {
    expect(runInShell(train('closed'), '>&- 2>&-').status).toBe(0);
    expectComplete('closed', 6);
  });
});

describe.skipIf(!existsSync('/dev/full'))('on a full device', () => {
  const problem =
    'Cannot write the output: the disk is full (ENOSPC: no space left on device, write); free space and';

  test('train --json continues with one warning', () => {
    const { status, stderr } = runInShell([...train('full'), '--json'], '> /dev/full');
    expect(stderr).toBe(`Warning: ${problem} later lines appear again; the command continues\n`);
    expect(status).toBe(0);
    expectComplete('full', 6);
  });

  test('train continues without its progress', () => {
    const { status, stdout } = runInShell(train('full-progress'), '2> /dev/full');
    expect(stdout).toMatch(/^All steps are done\. 6 steps in/);
    expect(status).toBe(0);
    expectComplete('full-progress', 6);
  });

  test('the plan of a run fails with one sentence', () => {
    expect(runInShell([...train('planned'), '--dry-run'], '> /dev/full')).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: `${problem} run the command again\n`,
    });
  });
});

describe('a command that only prints', () => {
  const generate = (texts: number) => {
    const flags = ['--num-return-sequences', String(texts), '--json'];
    return ['generate', '--model', at('model'), '--prompt', 'the', ...flags];
  };

  test('ends quietly once nobody reads its output', async () => {
    const { status, stdout, stderr } = await runWithReaderGone(['stdout'], generate(5000));
    // The number of tokens would be on standard error at the end.
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').length).toBeLessThan(5000);
  });

  test('still prints its result if nobody reads its notes', async () => {
    const { stdout } = await runInProcess(...generate(1));
    expect(stdout).toMatch(/^\{.*\}\n$/);
    expect(runInShell(generate(1), '2> >(true)')).toMatchObject({ status: 0, stdout });
  });
});

describe('a closed terminal stops a run like Ctrl-C', () => {
  const adapterOf = (run: string) =>
    readFileSync(join(at(run), 'model/adapter_model.safetensors'), 'hex');
  const stateOf = (run: string) => JSON.parse(readFileSync(join(at(run), 'run.json'), 'utf8'));

  /** Resumes a run, which must end like one that was not interrupted. */
  async function expectSameEnd(run: string): Promise<void> {
    const resumed = await runInProcess('train', '--resume', at(run));
    expect(resumed.status).toBe(0);
    expect(resumed.stderr).toMatch(/^Resuming after step [1-5] of 6\n/);
    if (!existsSync(at('whole'))) await runInProcess(...train('whole'));
    expect(adapterOf(run)).toBe(adapterOf('whole'));
    for (const log of ['metrics.jsonl', 'samples.jsonl', 'tokens.jsonl', 'evaluations.jsonl']) {
      expect(readLog(at(run), log)).toEqual(readLog(at('whole'), log));
    }
  }

  test('which SIGHUP reports, several times', async () => {
    const child = startCli(...train('hangup'));
    // The second signal arrives while the run is stopping.
    const moments = ['step 3/6', 'Stopping after saving'];
    child.stderr.on('data', (text) => {
      if (moments[0] !== undefined && String(text).includes(moments[0])) {
        moments.shift();
        child.kill('SIGHUP');
      }
    });
    expect(await endOf(child)).toMatchObject({
      status: 130,
      stdout: `The run was interrupted and can be resumed:\n  npx proximal train --resume ${at('hangup')}\n`,
    });
    expect(moments).toEqual([]);
    await expectSameEnd('hangup');
  });

  /** The program of util-linux that runs a command on a terminal. */
  const terminal = 'script';
  const hasTerminal =
    process.platform === 'linux' && spawnSync(terminal, ['--version']).status === 0;

  test.skipIf(!hasTerminal)('which can neither be written nor restored', async () => {
    // The shell stays, and passes the signal on to the run.
    const command = `${cliCommand} ${train('terminal').join(' ')}; true`;
    const child = spawn(terminal, ['-qec', command, '/dev/null'], {
      env: { ...process.env, PROXIMAL_DEBUG: '', HF_HUB_OFFLINE: '1' },
    });
    child.stdout.on('data', (text) => {
      if (/step [2-5]\/6/.test(String(text))) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.on('close', resolve));
    await expect.poll(() => stateOf('terminal').status, { timeout: 60_000 }).toBe('interrupted');
    await expectSameEnd('terminal');
  });
});
