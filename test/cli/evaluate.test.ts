import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { trainRun } from '../../src/run/train-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
let run: Awaited<ReturnType<typeof trainRun>>;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await makeTrainFolder();
  run = await trainRun({
    ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
    ...{ output: at('run'), maxNewTokens: 6, maxSteps: 3, learningRate: 1e-2 },
  });
});

test("evaluate --adapter <run> prints the numbers of the run's own last evaluation", async () => {
  const { status, stdout } = await runInProcess('evaluate', '--adapter', run.folder, '--json');
  expect(status).toBe(0);
  const { prompts, policy, reference, samples } = JSON.parse(stdout);
  const { first, last } = run.evaluations!;
  expect(prompts).toBe(1);
  // A value model is not evaluated.
  expect({ ...policy, explainedVariance: 0 }).toEqual({
    ...last.report!.performance,
    explainedVariance: 0,
  });
  expect(reference).toMatchObject({
    reward: first.report!.performance.reward,
    kl: 0,
    winRate: 0.5,
  });
  expect(policy.kl).not.toBe(0);
  expect(samples).toMatchObject(last.report!.samples.map(({ response, kl }) => ({ response, kl })));
});

test('evaluate prints reference and policy side by side on all given prompts', async () => {
  const what = ['--model', at('model'), '--adapter', run.modelFolder!];
  const on = ['--prompts', at('prompts.jsonl'), '--reward', at('reward.ts')];
  const { status, stdout, stderr } = await runInProcess(
    'evaluate',
    ...what,
    ...on,
    '--max-new-tokens',
    '6',
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^Performance on 12 prompts\n +reference +policy\n {2}reward +/);
  expect(stdout).toMatch(
    /\n {2}win rate over reference +50\.0 % \[25\.4, 74\.6\] +\d+\.\d % \[\d+\.\d, \d+\.\d\]\n/,
  );
});

test('evaluate without a reward fails with one line and exit code 2', async () => {
  const flags = ['--model', at('model'), '--prompts', at('prompts.jsonl')];
  const { status, stderr } = await runInProcess('evaluate', ...flags);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^Cannot use the flags: --reward must be set, such as .*\n$/);
});

test('evaluate accepts a run whose adapter is another run', async () => {
  await trainRun({
    ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
    ...{ output: at('second'), adapter: run.folder, maxNewTokens: 6, maxSteps: 1 },
  });
  const { status, stdout } = await runInProcess('evaluate', '--adapter', at('second'), '--json');
  expect(status).toBe(0);
  // The reference is the first run's policy.
  expect(JSON.parse(stdout).reference.kl).toBe(0);
});
