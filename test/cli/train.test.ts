import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { endOf, runCli, runInProcess, startCli } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const train = (...args: string[]) => runInProcess('train', '--config', at('train.yaml'), ...args);
const adapterOf = (run: string) => readFileSync(join(run, 'model/adapter_model.safetensors'));

/** The lines of a log without timings. */
function readLog(run: string, name: string): object[] {
  const lines = readFileSync(join(run, name), 'utf8').trimEnd().split('\n');
  const isTiming = (key: string) => /^(timing|perf)\//.test(key);
  return lines.map((line) => JSON.parse(line, (key, value) => (isTiming(key) ? undefined : value)));
}

beforeAll(async () => {
  folder = await makeTrainFolder();
});

describe('proximal train', () => {
  test('trains from a config file, and flags override it', async () => {
    const output = at('whole');
    const config = ['--config', at('train.yaml'), '--output', output];
    const { status, stdout, stderr } = await runCli('train', ...config, '--max-steps', '5');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^step 0\/5 {2}evaluation {2}reward/);
    expect(stderr.match(/^step \d\/5 {2}reward .* KL .* entropy .* tokens\/s/gm)).toHaveLength(5);
    expect(stdout).toMatch(/^All steps are done\. 5 steps in \d+ s\.\n/);
    expect(stdout).toMatch(/before \(step 0\) +after \(step 5\)\n {2}reward +\d\.\d+ +\d\.\d+\n/);
    expect(stdout).toMatch(/Sample 1 .*\n {2}prompt .*\n {2}reference .*\n {2}policy /);
    expect(stdout).toContain(`npx proximal evaluate --adapter ${output}\n`);
    expect(JSON.parse(readFileSync(join(output, 'config.json'), 'utf8'))).toMatchObject({
      ...{ batchSize: 4, maxSteps: 5, gamma: 0.99, output },
      prompts: at('prompts.jsonl'),
      reward: [at('reward.ts')],
    });
    expect(readLog(output, 'metrics.jsonl').map((line) => 'step' in line && line.step)).toEqual([
      1, 2, 3, 4, 5,
    ]);
    expect(JSON.parse(readFileSync(join(output, 'run.json'), 'utf8'))).toMatchObject({
      status: 'completed',
      step: 5,
    });
    const again = await train('--output', output);
    expect(again).toMatchObject({ status: 1, stdout: '' });
    expect(again.stderr).toMatch(/^Cannot start a run in .*whole: it must not contain a run, got /);
  });

  test('--dry-run shows the plan and does nothing', async () => {
    const output = at('planned');
    const { status, stdout } = await train('--output', output, '--dry-run', '--json');
    expect(status).toBe(0);
    // 11 training prompts, so an epoch has three batches of 4. An adapter of rank 16 has 16·(32 + 32)
    // weights per module, 4 modules and 2 layers; the value model adds a head of 32 with a bias.
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ unit: 'prompts', train: 11, validation: 1 },
      trainable: { policy: 8192, value: 8225 },
      ...{ stepsPerEpoch: 3, totalSteps: 6, optimizerStepsPerStep: 4, evaluations: 4 },
    });
    expect(existsSync(output)).toBe(false);
  });

  test.each([
    [
      'none',
      'Left out 6 of 12 prompts: 6 of more than 1 token (maxPromptTokens), up to 2; the first: ',
    ],
    ['left', 'Truncated 6 of 12 prompts to the last 1 token (maxPromptTokens)'],
  ])(
    '--truncate-prompts %s warns with the limit, which data.json has too',
    async (how, warning) => {
      const output = at(`truncate-${how}`);
      const flags = ['--max-prompt-tokens', '1', '--truncate-prompts', how, '--max-steps', '1'];
      const { status, stderr } = await train('--output', output, ...flags);
      expect(status).toBe(0);
      expect(stderr.replace(/\s+/g, ' ')).toContain(warning);
      expect(JSON.parse(readFileSync(join(output, 'data.json'), 'utf8'))).toMatchObject({
        ...(how === 'left' ? { kept: 12, truncated: 6 } : { kept: 6, dropped: 6, truncated: 0 }),
        limit: { maxTokens: 1, reason: 'maxPromptTokens' },
      });
    },
  );

  test('--template reads \\n and \\t, but a config file does not', async () => {
    const output = at('escapes');
    const template = String.raw`{prompt}\n\tand`;
    const trained = await train('--output', output, '--max-steps', '1', '--template', template);
    expect(trained).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(join(output, 'config.json'), 'utf8'))).toMatchObject({
      template: '{prompt}\n\tand',
    });
    const [sample] = readLog(output, 'samples.jsonl');
    expect(sample).toMatchObject({ prompt: expect.stringMatching(/^[a-z ]+\n\tand$/) });
    const file = at('template.yaml');
    writeFileSync(file, `${readFileSync(at('train.yaml'), 'utf8')}template: '${template}'\n`);
    // The tokenizer has no backslash.
    expect(await runInProcess('train', '--config', file, '--output', at('unread'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Cannot encode text: token "\\" must be in the vocabulary'),
    });
  });
});

describe('proximal train --memory', () => {
  const limited = (limit: string, ...args: string[]) =>
    train('--output', at(`limited-${limit}`), '--memory', limit, ...args);

  test('is planned and reported before training', async () => {
    const { status, stdout } = await limited('1GB', '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toMatch(
      / Fits into 1GB with about 0\.2 GB: generates \d+ texts at a time in f32, /,
    );
    const trained = await limited('1GB', '--max-steps', '1');
    expect(trained).toMatchObject({ status: 0 });
    expect(trained.stderr).toContain('Fits into 1GB with about 0.2 GB: ');
    expect(readLog(at('limited-1GB'), 'log.jsonl')).toContainEqual(
      expect.objectContaining({ type: 'plan', message: expect.stringMatching(/^Fits into 1GB /) }),
    );
  });

  test.each([
    [
      '1MB',
      1,
      /^Cannot fit the run into memory: --memory must be at least 0\.2\d GB, got 0\.00 GB; /,
    ],
    [
      'much',
      2,
      /^Cannot use --memory: it must be a number with kB, MB or GB, such as 4GB, got "much"/,
    ],
  ])('rejects %s in one sentence', async (limit, code, message) => {
    const { status, stdout, stderr } = await limited(limit, '--dry-run');
    expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('proximal train --resume', () => {
  test('after Ctrl-C ends with the same model and logs', async () => {
    const [whole, parted] = [at('uninterrupted'), at('interrupted')];
    const child = startCli('train', '--config', at('train.yaml'), '--output', parted);
    let isKilled = false;
    child.stderr.on('data', (text) => {
      if (!isKilled && String(text).includes('step 3/6')) isKilled = child.kill('SIGINT');
    });
    const [ended] = await Promise.all([endOf(child), train('--output', whole)]);
    expect(ended).toMatchObject({
      status: 130,
      stdout: `The run was interrupted and can be resumed:\n  npx proximal train --resume ${parted}\n`,
    });
    expect(ended.stderr).toContain(
      '\nStopping after saving; press Ctrl-C again to stop immediately\n',
    );
    expect(existsSync(join(parted, 'model'))).toBe(false);
    const resumed = await runInProcess('train', '--resume', parted);
    expect(resumed.stderr).toMatch(/^Resuming after step [3-5] of 6\n/);
    expect(adapterOf(parted).equals(adapterOf(whole))).toBe(true);
    for (const log of ['metrics.jsonl', 'samples.jsonl', 'tokens.jsonl', 'evaluations.jsonl']) {
      expect(readLog(parted, log)).toEqual(readLog(whole, log));
    }
  });

  test('skips a damaged checkpoint with a warning and ends the same', async () => {
    const output = at('uninterrupted');
    const before = adapterOf(output);
    const damaged = join(output, 'checkpoints/checkpoint-000006');
    writeFileSync(join(damaged, 'policy/adapter_model.safetensors'), 'torn');
    const { status, stderr } = await runInProcess('train', '--resume', output);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^Warning: Skipping .*checkpoint-000006: policy\/adapter_model.safetensors must have \d+ bytes, got 4\nResuming after step 4 of 6\n/,
    );
    expect(adapterOf(output).equals(before)).toBe(true);
  });

  test('rejects another config', async () => {
    const output = at('uninterrupted');
    const flag = await runInProcess('train', '--resume', output, '--num-epochs', '9');
    const file = await train('--resume', output);
    const nothing = await runInProcess('train', '--resume', at('nowhere'));
    expect(flag).toMatchObject({ status: 2, stdout: '' });
    expect(flag.stderr).toContain('--num-epochs must be 2 as when the run started, got 9; leave');
    expect(file).toMatchObject({ status: 2, stdout: '' });
    expect(file.stderr).toMatch(/; leave out --config\n$/);
    expect(nothing).toMatchObject({ status: 1, stdout: '' });
  });
});
