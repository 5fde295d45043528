import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;

/** Trains with these lines appended to a config, into a new run. */
async function train(name: string, lines: string, ...flags: string[]) {
  const config = join(folder, `${name}.yaml`);
  const output = join(folder, name);
  writeFileSync(config, `modelName: model\nprompts: prompts.jsonl\nmaxNewTokens: 6\n${lines}`);
  const ended = await runInProcess('train', '--config', config, '--output', output, ...flags);
  const stderr = ended.stderr.replaceAll(`${folder}/`, '');
  return { ...ended, stderr, isThere: existsSync(output) };
}

beforeAll(async () => {
  folder = await makeTrainFolder();
});

test('train rejects an unknown key with exit code 2 and leaves nothing behind', async () => {
  expect(await train('unknown', 'reward: reward.ts\nlerningRate: 1\n')).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'Cannot use unknown.yaml line 5: it has no "lerningRate"; did you mean "learningRate"?\n',
    isThere: false,
  });
});

test('train rejects contradictory options with exit code 2', async () => {
  const lines = 'reward: reward.ts\nbatchSize: 2\n';
  expect(await train('contradictory', lines, '--mini-batch-size', '3')).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'Cannot use contradictory.yaml with the flags: --mini-batch-size must be at most batchSize × samplesPerPrompt (2), got 3\n',
    isThere: false,
  });
});

test('a reward of NaN fails the run and prints how to resume', async () => {
  writeFileSync(join(folder, 'nan.ts'), 'export default () => NaN;');
  const { stderr, ...ended } = await train('nan', 'reward: nan.ts\n');
  expect(ended).toEqual({ status: 1, stdout: '', isThere: true });
  const [resume, problem] = stderr.split('\n');
  expect(resume).toBe(
    'The run failed. Fix the cause, then continue: npx proximal train --resume nan',
  );
  expect(problem).toMatch(
    /^Cannot use the scores of "nan": the score of sample 0 must be a finite number, got NaN; the response is ".*", the prompt ".*"$/,
  );
});
